"""Keeps one LibreOffice running inside the sandbox and converts one file at a time.

Frames on stdin and stdout as in sandbox/frames.ts: two big-endian lengths, a JSON header, a payload. A request is
{"from": "docx", "to": "pdf"} + the file; the answer is done + the converted file, or error {"reason": "..."}:
"not loadable" (the file), "not written" (the file), "crashed" (LibreOffice ended; this process ends as well).
"""

import json
import os
import struct
import subprocess
import sys
import time

import uno
from com.sun.star.beans import PropertyValue
from com.sun.star.connection import NoConnectException
from com.sun.star.lang import DisposedException, IllegalArgumentException

PROGRAM, TMP = sys.argv[1], sys.argv[2]
PROFILE = os.path.join(TMP, "profile")

# Macros and active content never run, links to elsewhere are never followed (trust.md section 2).
SETTINGS = [
    ("/org.openoffice.Office.Common/Security/Scripting", "DisableMacrosExecution", "true"),
    ("/org.openoffice.Office.Common/Security/Scripting", "MacroSecurityLevel", "3"),
    ("/org.openoffice.Office.Common/Security/Scripting", "BlockUntrustedRefererLinks", "true"),
    ("/org.openoffice.Office.Common/Security/Scripting", "DisableActiveContent", "true"),
    ("/org.openoffice.Office.Writer/Content/Update", "Link", "0"),
    ("/org.openoffice.Office.Common/Misc", "FirstRun", "false"),
    ("/org.openoffice.Office.Common/Misc", "UseLocking", "false"),
    ("/org.openoffice.Office.Recovery/RecoveryInfo", "Enabled", "false"),
    ("/org.openoffice.Office.Common/Save/Document", "AutoSave", "false"),
]


def write_settings():
    user = os.path.join(PROFILE, "user")
    os.makedirs(user, exist_ok=True)
    items = "".join(
        '<item oor:path="%s"><prop oor:name="%s" oor:op="fuse"><value>%s</value></prop></item>' % entry for entry in SETTINGS
    )
    with open(os.path.join(user, "registrymodifications.xcu"), "w") as out:
        out.write(
            '<?xml version="1.0" encoding="UTF-8"?><oor:items xmlns:oor="http://openoffice.org/2001/registry"'
            ' xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">%s</oor:items>' % items
        )


def start_office():
    arguments = [PROGRAM, "--headless", "--invisible", "--norestore", "--nologo", "--nodefault", "--nolockcheck"]
    arguments += ["-env:UserInstallation=file://" + PROFILE, "--accept=pipe,name=sergo;urp;StarOffice.ServiceManager"]
    return subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=TMP)


def connect():
    """Desktop, dispatcher and a maker of services of a running LibreOffice. A new profile makes it exit once with 81: it is started again."""
    local = uno.getComponentContext()
    resolver = local.ServiceManager.createInstanceWithContext("com.sun.star.bridge.UnoUrlResolver", local)
    office, starts, deadline = start_office(), 1, time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            context = resolver.resolve("uno:pipe,name=sergo;urp;StarOffice.ComponentContext")
            make = context.ServiceManager.createInstanceWithContext
            services = lambda name: make(name, context)
            return office, services("com.sun.star.frame.Desktop"), services("com.sun.star.frame.DispatchHelper"), services
        except NoConnectException:
            if office.poll() is not None:
                if starts >= 4:
                    break
                office, starts = start_office(), starts + 1
            time.sleep(0.05)
    raise SystemExit("LibreOffice did not start (exit code %s)" % office.poll())


def properties(**values):
    return tuple(PropertyValue(name, 0, value, 0) for name, value in values.items())


def kind_of(document):
    for service, kind in (
        ("com.sun.star.presentation.PresentationDocument", "impress"),
        ("com.sun.star.drawing.DrawingDocument", "draw"),
        ("com.sun.star.sheet.SpreadsheetDocument", "calc"),
        ("com.sun.star.text.WebDocument", "writer"),
        ("com.sun.star.text.TextDocument", "writer"),
    ):
        if document.supportsService(service):
            return kind
    return None


FILTERS = {
    "docx": {"writer": "MS Word 2007 XML"},
    "pptx": {"impress": "Impress MS PowerPoint 2007 XML"},
    "xlsx": {"calc": "Calc MS Excel 2007 XML"},
    "odt": {"writer": "writer8"},
    "txt": {"writer": "Text (encoded)"},
    "pdf": {kind: kind + "_pdf_Export" for kind in ("writer", "impress", "draw", "calc")},
}

# Kinds that LibreOffice would otherwise guess: a web page would open in another program of its own.
IMPORTS = {"html": "HTML (StarWriter)", "rtf": "Rich Text Format", "txt": "Text (encoded)"}


# Kinds of text that may carry comments in their margin.
COMMENTED = {"docx", "doc", "odt", "rtf"}


def load(desktop, services, url, source, target):
    """The document in a window that nobody sees. None where LibreOffice cannot open it.

    A comment in the margin is a window, made of files that a LibreOffice without a desktop lacks: showing one ends it. So texts
    are loaded without a window, and lose their comments (read apart, never printed) before they get one."""
    options = {"Hidden": True, "ReadOnly": False, "MacroExecutionMode": 0, "UpdateDocMode": 0, "Silent": True}
    if source in IMPORTS:
        options["FilterName"] = IMPORTS[source]
    if source in COMMENTED:
        found = services("com.sun.star.document.TypeDetection").queryTypeByDescriptor(properties(URL=url), True)
        kind, detected = found if isinstance(found, tuple) and len(found) == 2 else ("", ())
        name = options.get("FilterName") or next((each.Value for each in detected if each.Name == "FilterName"), "")
        if kind.startswith("writer") and "globaldocument" not in kind and name:
            document = services("com.sun.star.text.TextDocument")
            document.load(properties(URL=url, **{**options, "FilterName": name}))
            if target == "pdf":
                fields = document.getTextFields().createEnumeration()
                comments = []
                while fields.hasMoreElements():
                    field = fields.nextElement()
                    if field.supportsService("com.sun.star.text.textfield.Annotation"):
                        comments.append(field)
                for comment in comments:
                    comment.dispose()
                desktop.loadComponentFromURL("private:object", "_blank", 0, properties(Hidden=True, Model=document))
            return document
    return desktop.loadComponentFromURL(url, "_blank", 0, properties(**options))


def prepare(document, kind, target, dispatcher):
    """Shows what the text readers read: changes accepted, every sheet."""
    if kind == "writer" and target == "pdf" and document.supportsService("com.sun.star.text.GenericTextDocument"):
        redlines = document.Redlines
        if redlines is not None and redlines.hasElements():
            dispatcher.executeDispatch(document.CurrentController.Frame, ".uno:AcceptAllTrackedChanges", "", 0, ())
    if kind == "calc" and target == "pdf":
        if document.isProtected():
            # While the structure is locked, showing a hidden sheet does nothing, and says nothing.
            try:
                document.unprotect("")
            except IllegalArgumentException:
                # It has a password. LibreOffice 7.4 prints one page a sheet all the same; where another does not, the count of pages tells.
                pass
        sheets = document.Sheets
        for index in range(sheets.Count):
            sheet = sheets.getByIndex(index)
            sheet.IsVisible = True
            cursor = sheet.createCursor()
            cursor.gotoEndOfUsedArea(False)
            end = cursor.RangeAddress
            if end.EndColumn == 0 and end.EndRow == 0 and sheet.getCellByPosition(0, 0).String == "" and sheet.DrawPage.Count == 0:
                # An empty sheet prints no page, and the pages after it would bear wrong numbers.
                sheet.getCellByPosition(0, 0).String = "\u00a0"


def filter_data(kind, target):
    if target != "pdf":
        return {}
    data = {"UseTaggedPDF": False, "ExportNotes": False, "ExportBookmarks": True}
    if kind == "impress":
        data["ExportHiddenSlides"] = True
    if kind == "calc":
        data["SinglePageSheets"] = True
    return {"FilterData": uno.Any("[]com.sun.star.beans.PropertyValue", properties(**data))}


def convert(desktop, dispatcher, services, source, target):
    """Converts TMP/in.<source>; returns the answer's header and payload."""
    path = os.path.join(TMP, "in." + source)
    written = os.path.join(TMP, "out." + target)
    document = None
    try:
        try:
            document = load(desktop, services, "file://" + path, source, target)
        except DisposedException:
            # LibreOffice is gone: that is told apart from a file that it refuses.
            raise
        except Exception:
            document = None
        if document is None:
            return {"kind": "error", "reason": "not loadable"}, b""
        kind = kind_of(document)
        name = FILTERS[target].get(kind)
        if name is None:
            return {"kind": "error", "reason": "not loadable"}, b""
        prepare(document, kind, target, dispatcher)
        try:
            document.storeToURL("file://" + written, properties(FilterName=name, Overwrite=True, **filter_data(kind, target)))
        except DisposedException:
            raise
        except Exception:
            return {"kind": "error", "reason": "not written"}, b""
        with open(written, "rb") as result:
            return {"kind": "done", "as": kind}, result.read()
    finally:
        if document is not None:
            try:
                document.close(True)
            except Exception:
                # Gone already, or kept by a dialog: the next conversion finds out.
                pass
        for leftover in (path, written):
            if os.path.exists(leftover):
                os.remove(leftover)


def read_exactly(count):
    data = sys.stdin.buffer.read(count)
    if len(data) < count:
        raise SystemExit(0)
    return data


def send(header, payload=b""):
    text = json.dumps(header).encode()
    out = sys.stdout.buffer
    out.write(struct.pack(">II", len(text), len(payload)))
    out.write(text)
    out.write(payload)
    out.flush()


def main():
    write_settings()
    office, desktop, dispatcher, services = connect()
    send({"kind": "ready"})
    while True:
        header_length, payload_length = struct.unpack(">II", read_exactly(8))
        request = json.loads(read_exactly(header_length))
        # A piece at a time: the file is in memory only once, in the office.
        with open(os.path.join(TMP, "in." + request["from"]), "wb") as out:
            while payload_length > 0:
                piece = read_exactly(min(payload_length, 1 << 20))
                out.write(piece)
                payload_length -= len(piece)
        try:
            header, payload = convert(desktop, dispatcher, services, request["from"], request["to"])
        except Exception:
            # The bridge is gone: the document took LibreOffice down.
            send({"kind": "error", "reason": "crashed"})
            raise SystemExit(1)
        send(header, payload)
        if office.poll() is not None:
            raise SystemExit(1)


main()
