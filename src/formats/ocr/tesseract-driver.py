"""Keeps tesseract loaded as a library inside the sandbox and reads one picture of a page at a time.

Frames on stdin and stdout as in sandbox/frames.ts: two big-endian lengths, a JSON header, a payload. A request is
{"width", "height", "dpi", "orient"} + one byte a pixel; the answer is done {"lines"}, or error {}. A line is
{"paragraph": it starts one, "baseline": [x1, y1, x2, y2], "words": [[text, confidence, x1, y1, x2, y2, size], ...]}, in
pixels from the top left; a word has the ends of its own baseline, its size is in points.

The program of the same name starts anew for each page, and walks through all its words, which takes it the square of
their number, once for the text, once for a PDF and once for how sure it is.
"""

import ctypes
import json
import struct
import sys

LANGUAGES = sys.argv[1].encode()
# Modes of tesseract (PageSegMode): find the blocks, or the orientation as well.
BLOCKS, ORIENTATION_AND_BLOCKS = 3, 1
# Its levels of a page (PageIteratorLevel).
PARAGRAPH, LINE, WORD = 1, 2, 3

library = ctypes.CDLL("libtesseract.so.5")
handle, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
pointer = ctypes.POINTER(number)


def function(name, result, *arguments):
    found = getattr(library, name)
    found.restype, found.argtypes = result, arguments
    return found


# tesseract/capi.h
create = function("TessBaseAPICreate", handle)
load = function("TessBaseAPIInit3", number, handle, text, text)
set_mode = function("TessBaseAPISetPageSegMode", None, handle, number)
set_image = function("TessBaseAPISetImage", None, handle, text, number, number, number, number)
set_resolution = function("TessBaseAPISetSourceResolution", None, handle, number)
recognise = function("TessBaseAPIRecognize", number, handle, handle)
forget_page = function("TessBaseAPIClear", None, handle)
forget_words = function("TessBaseAPIClearAdaptiveClassifier", None, handle)
get_words = function("TessBaseAPIGetIterator", handle, handle)
get_places = function("TessResultIteratorGetPageIterator", handle, handle)
delete_words = function("TessResultIteratorDelete", None, handle)
next_item = function("TessResultIteratorNext", number, handle, number)
get_text = function("TessResultIteratorGetUTF8Text", handle, handle, number)
delete_text = function("TessDeleteText", None, handle)
confidence = function("TessResultIteratorConfidence", ctypes.c_float, handle, number)
font = function("TessResultIteratorWordFontAttributes", text, handle, *[handle] * 6, pointer, pointer)
is_first_of = function("TessPageIteratorIsAtBeginningOf", number, handle, number)
get_baseline = function("TessPageIteratorBaseline", number, handle, number, *[pointer] * 4)


def baseline(places, level):
    """[x1, y1, x2, y2], or None where there is nothing."""
    ends = [number() for _ in range(4)]
    found = get_baseline(places, level, *(ctypes.byref(end) for end in ends))
    return [end.value for end in ends] if found else None


def take_text(words):
    found = get_text(words, WORD)
    if not found:
        return ""
    try:
        return ctypes.string_at(found).decode("utf-8", "replace").strip()
    finally:
        delete_text(found)


def size_of(words):
    points, font_id = number(), number()
    font(words, *[None] * 6, ctypes.byref(points), ctypes.byref(font_id))
    return points.value


def read_lines(api):
    words = get_words(api)
    if not words:
        return []
    # The same object, by the name that tells its places.
    places = get_places(words)
    lines = []
    try:
        while True:
            line = baseline(places, LINE) if is_first_of(places, LINE) else None
            if line is not None:
                lines.append({"paragraph": bool(is_first_of(places, PARAGRAPH)), "baseline": line, "words": []})
            found, ends = take_text(words), baseline(places, WORD)
            if found and ends is not None and lines:
                lines[-1]["words"].append([found, confidence(words, WORD), *ends, size_of(words)])
            if not next_item(words, WORD):
                return lines
    finally:
        delete_words(words)


def read_page(api, request, pixels):
    width, height = request["width"], request["height"]
    set_mode(api, ORIENTATION_AND_BLOCKS if request["orient"] else BLOCKS)
    set_image(api, pixels, width, height, 1, width)
    set_resolution(api, request["dpi"])
    try:
        if recognise(api, None) != 0:
            return {"kind": "error"}
        return {"kind": "done", "lines": read_lines(api)}
    finally:
        # The next page is read as if it were the first.
        forget_page(api)
        forget_words(api)


def read_exactly(count):
    data = sys.stdin.buffer.read(count)
    if len(data) < count:
        raise SystemExit(0)
    return data


def send(header):
    encoded = json.dumps(header).encode()
    out = sys.stdout.buffer
    out.write(struct.pack(">II", len(encoded), 0))
    out.write(encoded)
    out.flush()


def main():
    api = create()
    if load(api, None, LANGUAGES) != 0:
        raise SystemExit("tesseract cannot load its data for " + LANGUAGES.decode())
    send({"kind": "ready"})
    while True:
        header_length, payload_length = struct.unpack(">II", read_exactly(8))
        request = json.loads(read_exactly(header_length))
        send(read_page(api, request, read_exactly(payload_length)))


main()
