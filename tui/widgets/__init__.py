"""Parts of the screen: each shows facts it is given and says what the user wished."""
