from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mltd.runs.sources.pieces import Piece
from mltd.runs.sources.utf8_transcoder import PieceTranscoder, Utf8Transcoder

MARKS = [
    b"",
    codecs.BOM_UTF8,
    codecs.BOM_UTF16_LE,
    codecs.BOM_UTF16_BE,
    codecs.BOM_UTF32_LE,
    codecs.BOM_UTF32_BE,
    b"\xff",
    b"\xef\xbb",
    b"\0",
    b"a\0",
]
TEXT = "step 1 loss 0.5 é 雪 🎉\r\n"


def convert(data: bytes, sizes: list[int]) -> bytes:
    transcoder = Utf8Transcoder()
    output, position = b"", 0
    for size in sizes:
        output += transcoder.feed(data[position : position + size])
        position += size
    return output + transcoder.feed(data[position:], final=True)


@given(
    st.sampled_from(MARKS),
    st.one_of(
        st.binary(max_size=60),
        st.text(max_size=30).map(lambda text: text.encode("utf-16-le", "surrogatepass")),
        st.integers(500, 1200).map(lambda count: b"a\0" * count),
        st.integers(500, 520).map(lambda count: b"a\0" * count + b"bb"),
    ),
    st.lists(st.integers(0, 300), max_size=20),
)
@settings(deadline=None, max_examples=80)
def test_how_bytes_are_cut_never_changes_the_output(
    mark: bytes, body: bytes, sizes: list[int]
) -> None:
    assert convert(mark + body, sizes) == convert(mark + body, [])


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
def test_marked_text_becomes_utf8(encoding: str) -> None:
    data = ("\ufeff" + TEXT).encode(encoding)
    assert convert(data, [1] * len(data)) == TEXT.encode()


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("repeats", [1, 100])
def test_obvious_utf16_without_a_mark_becomes_utf8(encoding: str, repeats: int) -> None:
    text = "epoch 3: loss 0.25\r\n" * repeats
    assert convert(text.encode(encoding), [7, 100]) == text.encode()


@given(st.binary(min_size=2, max_size=40).filter(lambda data: data[0] not in b"\xff\xfe\xef\0"))
@settings(deadline=None)
def test_other_bytes_pass_unchanged_and_at_once(data: bytes) -> None:
    data = data[:1] + b"x" + data[1:]
    transcoder = Utf8Transcoder()
    assert transcoder.feed(data) == data
    assert transcoder.encoding == "utf-8"
    assert transcoder.feed(b"a\0b\0") == b"a\0b\0"


def test_invalid_utf16_is_replaced_not_raised() -> None:
    lone = codecs.BOM_UTF16_LE + b"a\0\x00\xd8b\0" + b"x"
    assert convert(lone, []).decode() == "a\ufffdb\ufffd"


def test_each_generation_is_recognised_anew() -> None:
    transcoder = PieceTranscoder()
    utf16 = "\ufeffhi\n".encode("utf-16-le")
    assert transcoder.feed([Piece(0, 0, utf16[:5])]) == [Piece(0, 0, b"h")]
    assert transcoder.feed([Piece(0, 5, utf16[5:], ends=True), Piece(1, 0, b"plain")]) == [
        Piece(0, 1, b"i\n", ends=True),
        Piece(1, 0, b"plain"),
    ]
    assert transcoder.encoding == "utf-8"
