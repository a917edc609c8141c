"""The scripts that list files over there: POSIX `sh` with `stat` or `ls`, and nothing else.

What they print is a row of tokens, each ended by NUL, which no name and no line of `stat` holds:

    Q now                        the clock over there
    K kind                       what the path is: folder, file, link, pattern, nothing
    W path                       a walk begins at this folder
    F path, C path               entries of a folder, of a checkpoint folder
    G path, P path               entries of a folder for a pattern or a file: all, or some
    N count names                names in the present folder, each `./name`
    L count names                symbolic links (and `.`, the folder itself), with what they lead to
    S lines status               one line per name, in order, if the status is 0
    R lines                      one line per name for certain, `-` for what is gone
    B count path                 a folder that was not looked into: a data set
    X path reason                a folder that cannot be looked into
    E path target                a link that is not followed, and where it leads if that is known
    D path, O path               something deeper was left out, too many entries
    U path                       may not be read
    M path next letters          a missing file's nearest folder, whether the next part of the
                                 path is there, what may be done with the folder

All of it goes through gzip if there is one; a mark said now and then tells that it goes on.
"""

from __future__ import annotations

from ..discovery.tree import SKIPPED_FOLDERS, STORE_FOLDERS, Limits
from .quoting import sh_quote

MOST_SAVED = 5_000
"""Files in checkpoint folders of which sizes are asked, in all."""
MOST_NAMES = 20_000
"""Names that are sent to find one like a misspelt one, and matches of a pattern."""
CHUNK = 400
"""Names given to one `stat`: at 258 bytes they stay below any system's limit."""


def any_case(word: str) -> str:
    """A pattern of `sh` for a word in small and capital letters."""
    return "".join(f"[{c}{c.upper()}]" if c.isalpha() else c for c in word)


_NUMBERED = "|".join("*.[oeOE]" + "[0-9]" * digits for digits in range(1, 12))
LOGS = "|".join(
    [
        *("*" + any_case(end) for end in ("log", "stdout", "stderr", ".out", ".err")),
        *("*" + any_case(end) for end in (".jsonl", ".wandb", "tfevents")),
        "*" + any_case("tfevents") + "*",
        _NUMBERED,
    ]
)
_SLICE = " ".join(f'"${{{number}}}"' for number in range(1, CHUNK + 1))

_FUNCTIONS = rf"""
nl='
'
sq=\'
slice='{_SLICE}'
kind=stat
if stat -c %f / >/dev/null 2>&1; then
  own() {{ stat -c '%f %s %Y %d %i' -- "$@"; }}
  aim() {{ stat -L -c '%f %s %Y %d %i' -- "$@"; }}
elif stat -f '%Xp %z %m %d %i' / >/dev/null 2>&1; then
  own() {{ stat -f '%Xp %z %m %d %i' -- "$@"; }}
  aim() {{ stat -L -f '%Xp %z %m %d %i' -- "$@"; }}
else
  kind=ls
  own() {{ TZ=UTC0 ls -dni -- "$@"; }}
  aim() {{ TZ=UTC0 ls -dnLi -- "$@"; }}
fi
beats=0
beat() {{ beats=$((beats + 1)); case $beats in *0) say beat >&3 ;; esac; }}
each() {{
  for one; do
    line=$($how "$one" 2>/dev/null)
    line=${{line%%"$nl"*}}
    printf '%s\n' "${{line:--}}"
  done
}}
again() {{ printf 'R\0'; each "$@"; printf '\0'; }}
# `ls` sorts, as the shell has done, but names and aims of links may break its lines.
one_line_each() {{
  case $how$* in aim*|*"$nl"*) return 1 ;; esac
  for one; do [ ! -L "$one" ] || return 1; done
}}
stats() {{
  how=$1; shift
  if [ $kind = ls ] && ! one_line_each "$@"; then again "$@"; return; fi
  printf 'S\0'; $how "$@" 2>/dev/null; failed=$?; printf '\0%s\0' $failed
  [ $failed = 0 ] || again "$@"
}}
ends() {{ printf 'L\0%s\0' $#; printf '%s\0' "$@"; stats aim "$@"; }}
chunk() {{
  printf 'N\0%s\0' $#; printf '%s\0' "$@"; stats own "$@"
  i=0; led=
  for e; do
    i=$((i + 1))
    if [ -L "$e" ]; then
      if [ -d "$e" ]; then
        leads "$e" && led="$led \"\${{$i}}\""
      elif [ -e "$e" ]; then
        led="$led \"\${{$i}}\""
      fi
    elif [ -d "$e" ]; then
      under "$e"
    fi
  done
  [ -z "$led" ] || eval "ends $led"
}}
chunks() {{
  while [ $# -gt 0 ] && [ $room -gt 0 ]; do
    beat
    if [ $# -gt {CHUNK} ]; then eval "chunk $slice"; shift {CHUNK}; else chunk "$@"; shift $#; fi
    room=$((room - {CHUNK}))
  done
}}
quote() {{
  rest=$1; q=
  while :; do
    case $rest in
      *"$sq"*) q=$q${{rest%%"$sq"*}}"'\\''"; rest=${{rest#*"$sq"}} ;;
      *) break ;;
    esac
  done
  q="'$q$rest'"
}}
push() {{
  quote "$1"
  bit="$bit $q"; pushed=$((pushed + 1))
  # In two steps, because a long text is copied as a whole whenever it grows.
  case $pushed in *00) next=$next$bit; bit= ;; esac
}}
leads() {{
  [ -n "$walking" ] || return 0
  cd -P "$1" 2>/dev/null || return 1
  aimed=$PWD
  cd -P "$at" || return 1
  [ "$aimed" != / ] || aimed=
  # What it points to is found at its own place.
  case $aimed/ in "$top"/*) return 1 ;; esac
  case $top/ in "$aimed"/*) return 1 ;; esac
  printf 'E\0%s\0%s\0' "$dir/${{1#./}}" "$aimed"
  return 1
}}
digits() {{ case $1 in ''|*[!0-9]*) return 1 ;; esac; }}
is_saved() {{
  case $1 in
    ?*.{any_case("ckpt")}|?*.{any_case("distcp")}) return 0 ;;
    {any_case("checkpoint")}[-_]*) digits "${{1#???????????}}" ;;
    {any_case("global_step")}[-_]*) digits "${{1#????????????}}" ;;
    {any_case("global_step")}*) digits "${{1#???????????}}" ;;
    {any_case("globalstep")}[-_]*) digits "${{1#???????????}}" ;;
    {any_case("globalstep")}*) digits "${{1#??????????}}" ;;
    {any_case("iter")}_?????*) digits "${{1#?????}}" ;;
    *) return 1 ;;
  esac
}}
under() {{
  [ -n "$walking" ] || return 0
  name=${{1#./}}
  case $name in {"|".join(sorted(SKIPPED_FOLDERS))}) return 0 ;; esac
  if is_saved "$name"; then
    quote "$dir/$name"; saves="$saves $q"
  elif [ $level -ge $deepest ]; then
    deep=1
  else
    push "$dir/$name"
  fi
}}
enter() {{
  dir=$1
  if cd -P "${{dir:-/}}" 2>/dev/null && [ -r . ]; then at=$PWD; return 0; fi
  if [ -d "${{dir:-/}}" ]; then why='Permission denied'; else why='it is gone'; fi
  printf 'X\0%s\0%s\0' "$dir" "$why"
  return 1
}}
there() {{ [ -e "$1" ] || [ -L "$1" ]; }}
folder() {{
  enter "$1" || return 0
  here=$at; [ "$here" != / ] || here=
  below=${{dir#"$base"}}
  # Below a link; elsewhere every folder has one way that leads to it.
  if [ "$here" != "$top$below" ]; then
    case $seen in *"$nl$here/$nl"*) return 0 ;; esac
    seen=$seen$nl$here/$nl
  fi
  set -- ./*
  there "$1" || shift
  if [ $# -gt $crowd ]; then
    case ${{dir##*/}} in
      {"|".join(sorted(STORE_FOLDERS))}) ;;
      *)
        k=0
        for e; do case $e in {LOGS}) k=$((k + 1)) ;; esac; done
        if [ $((k * 10)) -lt $# ]; then
          # It cost no more than its names.
          count=$((count + crowd)); beat
          printf 'B\0%s\0%s\0' $# "$dir"
          return 0
        fi ;;
    esac
  fi
  room=$((most - count)); count=$((count + $#))
  printf 'F\0%s\0' "$dir"
  chunks "$@"
  [ ! -d ./.hydra ] || chunk ./.hydra
  [ ! -f ./.metadata ] || chunk ./.metadata
}}
saved() {{
  enter "$1" || return 0
  printf 'C\0%s\0' "$dir"
  set -- ./*
  there "$1" || shift
  room=$((most_saved - kept)); kept=$((kept + $#))
  chunks "$@"
}}
walk() {{
  enter "$1" || return 0
  base=$1; top=$at; [ "$top" != / ] || top=
  printf 'W\0%s\0' "$base"; ends .
  level=0; seen=; deep=; walking=1; saves=
  set -- "$base"
  while [ $# -gt 0 ]; do
    level=$((level + 1)); next=; bit=
    for d; do
      if [ $count -ge $most ]; then next=; bit=; break; fi
      folder "$d"
    done
    eval "set -- $next$bit"
  done
  walking=
  eval "set -- $saves"
  for d; do
    if [ $kept -ge $most_saved ]; then break; fi
    saved "$d"
  done
  [ -z "$deep" ] || printf 'D\0%s\0' "$base"
  [ $count -lt $most ] || printf 'O\0%s\0' "$base"
}}
beside() {{
  target=$1; shift
  parent=${{target%/*}}
  cd -P "${{parent:-/}}" 2>/dev/null || return 0
  printf 'P\0%s\0' "$parent"
  ends . "./${{target##*/}}"
  for c; do
    [ -f "./$c" ] || continue
    # Where a link to a file leads cannot be told with POSIX tools.
    if [ -L "./$c" ]; then printf 'E\0%s\0\0' "$parent/$c"; else ends "./$c"; fi
  done
  [ -r "./${{target##*/}}" ] || printf 'U\0%s\0' "$target"
}}
nearest() {{
  where=$1; last=$1
  while [ -n "$where" ] && [ ! -d "$where" ]; do last=$where; where=${{where%/*}}; done
  may=; [ ! -r "${{where:-/}}" ] || may=r; [ ! -x "${{where:-/}}" ] || may=${{may}}x
  if there "$last"; then was=there; else was=; fi
  printf 'M\0%s\0%s\0%s\0' "$where" "$was" "$may"
  cd -P "${{where:-/}}" 2>/dev/null || return 0
  set -- ./*
  if there "$1" && [ $# -le {MOST_NAMES} ]; then printf 'N\0%s\0' $#; printf '%s\0' "$@"; fi
}}
"""

# What `main` prints goes through gzip; `say beat >&3` in it goes past.
SEND = rb"""
unset GZIP
exec 3>&1
if command -v gzip >/dev/null 2>&1; then
  say packed; main 2>/dev/null | gzip -1c 2>/dev/null
else
  say plain; main 2>/dev/null
fi
"""


def script(main: bytes, limits: Limits | None = None) -> bytes:
    """A whole script that prints what the commands in `main` print."""
    limits = limits or Limits()
    numbers = (
        f"most={limits.entries}; crowd={limits.folder}; deepest={limits.depth}; "
        f"most_saved={MOST_SAVED}; count=0; kept=0; pushed=0; walking=\n"
    )
    clock = b"printf 'Q\\0%s\\0' \"$(date +%s)\"\n"
    body = b"main() {\n" + clock + main + b"\n}\n"
    return _FUNCTIONS.encode() + numbers.encode() + body + SEND


def path_script(path: bytes, beside: list[bytes], limits: Limits, otherwise: bytes = b"") -> bytes:
    """List a directory with all below it, or a file and those beside it; `otherwise` if neither."""
    target = sh_quote(path.rstrip(b"/"))
    names = [sh_quote(name) for name in beside]
    kind = b"pattern" if otherwise else b"nothing"
    lines = [
        b"target=%s" % target,
        b"kind_is() { printf 'K\\0%s\\0' $1; }",
        b'if [ -d "${target:-/}" ]; then kind_is folder; walk "$target"',
        b'elif [ -e "$target" ]; then kind_is file; beside "$target" %s' % b" ".join(names),
        b'elif [ -L "$target" ]; then kind_is link',
        b"else kind_is %s\n%s\nfi" % (kind, otherwise or b'nearest "$target"'),
    ]
    return script(b"\n".join(lines), limits)


def stamps_script(paths: list[bytes]) -> bytes:
    """Ask when these folders and files were changed last."""
    lines = [
        b"ends %s; beat" % b" ".join(sh_quote(path) for path in paths[start : start + CHUNK])
        for start in range(0, len(paths), CHUNK)
    ]
    return script(b"\n".join(lines))
