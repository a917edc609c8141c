r"""What the far side's `sh` is asked to do, as text: look at files, send what is new of them.

It uses `dd`, `stat` (GNU's, busybox's, the BSDs'; or `ls`), `date`, and `gzip` if it is there.
Nothing is written over there, and only regular files are opened: a pipe would block.

A *stamp* is all that `stat` tells of a file, as one word or line:
`device:inode/size/modified/changed...`. Files that still have the stamp we know cost no answer.
What is sent of a file stands between the marks `file ID HOW STAMP` and `end ID STAMP`:
`head` and the first kibibyte, then `data OFFSET raw|gzip` and bytes. HOW says what they are:

    on      what follows on what we have, with an overlap to compare
    old     the same, of a file that was renamed since
    copy    the same, of another file that may be a newer copy
    fresh   a beginning (or an end, if the file is big and the end was asked for first)
    empty   there is nothing in it

`trouble ID WHY` stands for a file that cannot be read: none, denied, directory, pipe, socket,
device.
"""

from __future__ import annotations

import re

from .quoting import sh_quote

BLOCK = 4096
"""What `dd` reads at a time; offsets that are asked for are multiples of it."""
HEAD_BYTES = 1024
"""So much of a file's beginning is remembered, to know it again."""
OVERLAP_BYTES = 1024
"""At least so much before our end is sent again and compared."""
HOLE_BYTES = 1 << 16
"""A copy that began with the file's end has its hole up to a multiple of this."""
BIG_BYTES = 1 << 18
"""From here on a file's end is sent first."""
TAIL_BYTES = 1 << 17
COMPARED_BYTES = 1 << 20
"""Up to here a file that was touched is compared in full."""
PLAIN_BYTES = 1 << 14
"""More than this is compressed on its way."""
_MARKS_BYTES = 1 << 16

_FUNCTIONS = rb"""
nl='
'
ifs=$IFS gz= list= ids= n=0 plain=PLAIN_BYTES
if gzip -1c </dev/null >/dev/null 2>&1; then gz=1; fi
case $(stat -L -c %.9Y / 2>/dev/null) in
*.*) flavour=gnu format='%d:%i/%s/%.9Y/%.9Z' ;;
*) case $(stat -L -c %Y / 2>/dev/null) in
    [0-9]*) flavour=plain format='%d:%i/%s/%Y/%Z/%y/%z' ;;
    *) case $(stat -L -f %z / 2>/dev/null) in
        [0-9]*) flavour=bsd format='%d:%i/%z/%Fm/%Fc' ;;
        *) flavour=ls ;;
        esac ;;
    esac ;;
esac
case $flavour in
ls)
    stamps() {
        for file_ do
            set -f
            set -- $(ls -dLni -- "$file_" 2>/dev/null)
            set +f
            [ $# -lt 9 ] || printf '0:%s/%s/-/%s-%s-%s\n' "$1" "$6" "$7" "$8" "$9"
        done
    }
    keys() {
        for file_ do
            set -f
            set -- $(ls -di -- "$file_" 2>/dev/null)
            set +f
            [ $# -eq 0 ] || printf '0:%s\n' "$1"
        done
    }
    ;;
bsd)
    stamps() { stat -L -f "$format" -- "$@" 2>/dev/null; }
    keys() { stat -f %d:%i -- "$@" 2>/dev/null; }
    ;;
*)
    stamps() { stat -L -c "$format" -- "$@" 2>/dev/null; }
    keys() { stat -c %d:%i -- "$@" 2>/dev/null; }
    ;;
esac

# flow FILE FROM SIZE HAVE: bytes from a block on, as many as fit into the budget
flow() {
    count=$((($4 - $2) / BLOCK + 1 + $budget))
    case $gz$how in
    1*z*) [ $(($3 - $2)) -le $plain ] || {
        say data $2 gzip
        dd bs=BLOCK skip=$(($2 / BLOCK)) count=$count <"$1" 2>/dev/null | gzip -1c
        return 0
    } ;;
    esac
    say data $2 raw
    dd bs=BLOCK skip=$(($2 / BLOCK)) count=$count <"$1" 2>/dev/null
    return 0
}
first_kib() {
    say head
    dd bs=HEAD_BYTES count=1 <"$1" 2>/dev/null
}
# Where the overlap begins: near our end, or where our bytes begin if all are to be compared.
overlap() {
    from=$((($end - OVERLAP_BYTES) / BLOCK * BLOCK))
    [ $from -ge $start ] || from=$start
}
everything() {
    overlap
    if [ $(($end - $start)) -le COMPARED_BYTES ]; then from=$start; fi
}
go_on() {
    say file $id $1 $sig
    if [ $from -gt 0 ]; then first_kib "$f"; fi
    flow "$f" $from $size $end
    say end $id $(stamps "$f")
}
fresh() {
    if [ $size -eq 0 ]; then
        say file $id empty $sig
        say end $id $sig
        return
    fi
    say file $id fresh $sig
    from=0
    case $how in *t*)
        if [ $size -gt BIG_BYTES ]; then
            from=$((($size - TAIL_BYTES) / HOLE_BYTES * HOLE_BYTES))
            first_kib "$f"
        fi
        ;;
    esac
    flow "$f" $from $size $from
    say end $id $(stamps "$f")
}
# Which of the files has the key that we knew?
seek() {
    number=0
    for line in $(keys "$@"); do
        number=$(($number + 1))
        if [ "$line" = "$key" ]; then
            shift $(($number - 1))
            [ "$(keys "$1")" != "$key" ] || [ ! -f "$1" ] || old=$1
            return
        fi
    done
}
# rest: what came last in the file that had the name; 1: it is gone, 2: there is yet more of it
rest() {
    old=
    seek "$f"*
    [ -n "$old" ] || seek "${f%/*}"/*
    [ -n "$old" ] || return 1
    was=$(stamps "$old")
    long=${was#*/}
    long=${long%%/*}
    [ "${was%%/*}" = "$key" ] || return 1
    [ $long -gt $end ] || return 0
    say file $id old $was
    overlap
    if [ $from -gt 0 ]; then first_kib "$old"; fi
    flow "$old" $from $long $end
    say end $id $(stamps "$old")
    [ $long -le $(($end + $budget * BLOCK)) ] || return 2
}
replaced() {
    rest
    found=$?
    if [ "$sig" = "$known" ] || [ $found -eq 2 ]; then return; fi
    if [ $size -eq 0 ]; then
        fresh
    elif [ $found -eq 1 ] && [ $end -gt $start ] && [ $size -ge $end ]; then
        everything
        go_on copy
    else
        fresh
    fi
}
decide() {
    eval "f=\$f$id known=\$known$id key=\$key$id end=\$end$id start=\$start$id how=\$how$id"
    size=${sig#*/}
    size=${size%%/*}
    case $how in
    *f*) [ "$sig" = "$known" ] || fresh ;;
    *)
        if [ "${sig%%/*}" = "$key" ]; then
            if [ "$sig" = "$known" ]; then
                :
            elif [ $size -lt $end ]; then
                fresh
            elif [ $size -eq $end ]; then
                everything
                go_on on
            else
                overlap
                go_on on
            fi
        else
            case $how in
            *d*)
                if [ $size -ge $end ]; then
                    everything
                        go_on copy
                else
                    replaced
                fi
                ;;
            *s*) replaced ;;
            *) [ "$sig" = "$known" ] || replaced ;;
            esac
        fi
        ;;
    esac
}
look_at_all() {
    [ $n -gt 0 ] || return 0
    seen=$(eval "stamps $list")
    set -f
    IFS=$nl
    set -- $seen
    IFS=$ifs
    set +f
    if [ $# -ne $n ]; then
        set --
        for id in $ids; do
            eval "f=\$f$id"
            sig=$(stamps "$f")
            set -- "$@" "$sig"
        done
    fi
    for id in $ids; do
        sig=$1
        shift
        [ -z "$sig" ] || decide
    done
    list= ids= n=0
}
trouble() {
    known=$2 key=$3 end=$4 start=$5 how=$6 id=$1 why=none
    if [ -d "$f" ]; then
        why=directory
    elif [ -p "$f" ]; then
        why=pipe
    elif [ -S "$f" ]; then
        why=socket
    elif [ -b "$f" ] || [ -c "$f" ]; then
        why=device
    elif [ -e "$f" ]; then
        why=denied
    elif [ "$known" = "!none" ]; then
        :
    else
        case $({ true <"$f"; } 2>&1) in *ermission*) why=denied ;; esac
    fi
    if [ "!$why" != "$known" ]; then
        say trouble $id $why
        [ $why != denied ] || { true <"$f"; } 2>&1
        say end $id
    fi
    # Its new name is looked for when it has just lost the old one, and for a while after.
    if [ $why = none ] && [ -n "$key" ] && [ $end -gt 0 ]; then
        case $how in
        *f*) ;;
        *s*) rest ;;
        *) [ "$known" = "!none" ] || rest ;;
        esac
    fi
}
# want ID KNOWN KEY END START HOW: one more file to look at. A network file system's client asks
# its server when a file is opened, and answers from its memory otherwise.
want() {
    eval "f=\$f$1"
    if [ -f "$f" ] && { true <"$f"; } 2>/dev/null; then
        eval "known$1=\$2 key$1=\$3 end$1=\$4 start$1=\$5 how$1=\$6"
        list="$list \"\$f$1\"" ids="$ids $1" n=$(($n + 1))
        [ $n -lt 64 ] || look_at_all
    else
        trouble "$@"
    fi
}
# part FROM COUNT: some blocks of $f, with what the file was before and after
part() {
    [ -f "$f" ] || return 0
    say part $1 $(stamps "$f")
    how=z budget=$2 plain=0
    flow "$f" $1 $(($1 + $2 * BLOCK)) $1
    say end $(stamps "$f")
}
# whole MOST: all of $f, if it is not longer than that
whole() {
    if [ -d "$f" ] || [ -e "$f" ] && [ ! -f "$f" ]; then
        say refused kind
    elif [ ! -f "$f" ]; then
        say refused none
    else
        sig=$(stamps "$f")
        size=${sig#*/}
        size=${size%%/*}
        if [ ${size:-0} -gt $1 ]; then
            say refused size $size
        elif { true <"$f"; } 2>/dev/null; then
            say part 0 $sig
            how=z budget=$(($1 / BLOCK + 1))
            flow "$f" 0 $size 0
            say end $(stamps "$f")
        else
            say refused denied
        fi
    fi
}
"""

FUNCTIONS = re.sub(
    rb"\b([A-Z]+_BYTES|BLOCK)\b", lambda name: b"%d" % globals()[name[0].decode()], _FUNCTIONS
)
"""What a conversation has to define before anything else here is asked."""

HELLO = b'say hello "$(date +%s)" "$flavour" "gzip=$gz"'


def far_name(path: bytes) -> bytes:
    """A path that no command takes for an option, and that has a directory before its name."""
    return path if path.startswith(b"/") else b"./" + path


def remember(number: int, path: bytes) -> bytes:
    """Let the shell know a file by a number from now on."""
    return b"f%d=%s" % (number, sh_quote(far_name(path)))


def forget(number: int) -> bytes:
    """Undo `remember`."""
    return b"unset f%d" % number


def want(number: int, known: bytes, key: bytes, end: int, start: int, how: str) -> bytes:
    """One line of a poll: what is known of a file and how its news are wanted.

    The letters of `how`: t its end first, z compressed, f a beginning whatever is known, s look
    for what it was renamed to, d not sure that our bytes are of the file with our key.
    """
    words = (sh_quote(known) or b"''", key or b"''", end, start, how.encode() or b"-")
    return b"want %d %s %s %d %d %s" % (number, *words)


def poll(wants: list[bytes], budget: int) -> bytes:
    """Look at files, and send at most so many bytes of what is new in each."""
    return b"budget=%d\n%s\nlook_at_all" % (budget // BLOCK, b"\n".join(wants))


def most_of_poll(budget: int) -> int:
    """Bytes of one file that a poll brings at most: what is compared, and what is new."""
    return COMPARED_BYTES + budget + 2 * BLOCK


def sent(length: int) -> int:
    """Bytes on the way for so many of files: marks stand between them, and gzip may add some."""
    return length + length // 64 + _MARKS_BYTES


def part(path: bytes, offset: int, length: int) -> bytes:
    """Send so many bytes from the middle of a file, and a block more."""
    return b"f=%s\npart %d %d" % (sh_quote(far_name(path)), offset, length // BLOCK)


def whole(path: bytes, most: int) -> bytes:
    """Send a file that is not longer than that."""
    return b"f=%s\nwhole %d" % (sh_quote(far_name(path)), most)
