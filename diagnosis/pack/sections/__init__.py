"""The sections of a pack, one file each: from the material to pages."""
