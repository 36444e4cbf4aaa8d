"""The window of the manual: contents and search at the left, a page at the right."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from PySide6.QtCore import QEvent, QObject, QRectF, QSize, Qt, QUrl
from PySide6.QtGui import QFontDatabase, QImage, QKeyEvent, QKeySequence, QPainter, QShortcut, QTextDocument
from PySide6.QtSvg import QSvgRenderer
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QTextBrowser,
    QWidget,
)

from gpudesk import paths
from gpudesk.desktop.ui.theme.focus_ring import FocusRing, resize_to_fit
from gpudesk.desktop.ui.theme.theme import Theme
from gpudesk.desktop.ui.widgets.buttons import IconButton
from gpudesk.desktop.ui.widgets.layouts import ThemedLabel, fill_background, make_column, make_row
from gpudesk.desktop.ui.widgets.qt_support import call_after_paint
from gpudesk.report.manual import (
    CONTENTS,
    Heading,
    ItemList,
    ManualTable,
    list_page_names,
    make_plain,
    parse_inline,
    read_page,
    search_manual,
    write_html,
)
from gpudesk.text.translation import tr, trn

_WIDTH, _HEIGHT, _SIDE, _MARGIN = 1040.0, 720.0, 260.0, 28.0
#: Maximum width of pictures at 100% text size.
_PICTURE: Final = 660.0
#: A page with more table rows is first shown up to its first section, and restyled after the next paint: 540 rows take
#: 0.3 s.
_MOST_ROWS: Final = 200
_SCHEME: Final = "manual"
_TOPIC_ROLE: Final = Qt.ItemDataRole.UserRole
_TO_LIST: Final = frozenset({Qt.Key.Key_Down, Qt.Key.Key_PageDown})
_OPENING: Final = frozenset({Qt.Key.Key_Return, Qt.Key.Key_Enter})


def make_url(topic: str) -> QUrl:
    page, _, anchor = topic.partition("#")
    url = QUrl(f"{_SCHEME}:/{page}")
    if anchor:
        url.setFragment(anchor)
    return url


def read_topic(url: QUrl) -> str:
    page = url.path().removeprefix("/")
    return f"{page}#{url.fragment()}" if url.hasFragment() else page


class ManualView(QTextBrowser):
    """Shows a page in the theme's colors; links lead to pages only, since the program opens no network."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._shows_beginning = self._is_long = False
        self.setProperty("kind", "bare")
        self.setOpenExternalLinks(False)
        self.document().setDocumentMargin(theme.px(_MARGIN))
        theme.follow(self._dress)

    def doSetSource(self, address: QUrl | str, *kind: QTextDocument.ResourceType) -> None:
        """Show a page; the rest of a long one follows the first paint, unless a section of it is requested."""
        self._shows_beginning = not QUrl(address).hasFragment()
        super().doSetSource(address, *kind)
        self._shows_beginning = False

    def loadResource(self, kind: int, address: QUrl | str) -> object:
        """Return a page as HTML, or a picture of one."""
        url = QUrl(address)
        if kind == QTextDocument.ResourceType.ImageResource:
            return self._load_picture(Path(url.toLocalFile()))
        name = url.path().removeprefix("/")
        if url.scheme() != _SCHEME or name not in list_page_names():
            return None
        page = read_page(name)
        self.setAccessibleName(page.title)
        blocks = page.blocks
        self._is_long = sum(len(block.rows) for block in blocks if isinstance(block, ManualTable)) > _MOST_ROWS
        if self._shows_beginning and self._is_long:
            blocks = blocks[: blocks.index(page.headings[0])]
            call_after_paint(self.viewport(), self._show_anew)
        return write_html(blocks, _make_address)

    def _load_picture(self, file: Path) -> QImage:
        """Return a picture at its width on screen: drawings sharp at any size, photographs never enlarged."""
        px = self._theme.px
        ratio, room = self.devicePixelRatioF(), min(px(_PICTURE), self.viewport().width() - 2 * px(_MARGIN))
        if file.suffix == ".svg":
            drawing = QSvgRenderer(str(file))
            size = QSize(drawing.defaultSize()).scaled(room, room, Qt.AspectRatioMode.KeepAspectRatio)
            image = QImage(size * ratio, QImage.Format.Format_ARGB32_Premultiplied)
            image.fill(Qt.GlobalColor.white)
            with QPainter(image) as painter:
                drawing.render(painter, QRectF(image.rect()))
        else:
            image = QImage(str(file))
            if image.width() > room * ratio:
                image = image.scaledToWidth(round(room * ratio), Qt.TransformationMode.SmoothTransformation)
        image.setDevicePixelRatio(ratio)
        return image

    def _dress(self) -> None:
        self.setFont(self._theme.font("option"))
        font = self.font()
        font.setWeight(font.Weight.Normal)
        self.setFont(font)
        self.document().setDefaultStyleSheet(make_page_style(self._theme))
        if self._is_long:
            call_after_paint(self.viewport(), self._show_anew)
        elif not self.source().isEmpty():
            self._show_anew()

    def _show_anew(self) -> None:
        place = self.verticalScrollBar().value()
        self.setHtml(str(self.loadResource(QTextDocument.ResourceType.HtmlResource, self.source())))
        self.verticalScrollBar().setValue(place)


def _make_address(target: str) -> str:
    """Return the address of a link or picture of a page; empty for files outside the manual."""
    file, _, anchor = target.partition("#")
    if not file:
        return f"#{anchor}"
    if file.endswith(".md"):
        return make_url(f"{file.removesuffix('.md')}#{anchor}" if anchor else file.removesuffix(".md")).toString()
    picture = (paths.get_resources_dir() / "manual" / file).resolve()
    return QUrl.fromLocalFile(str(picture)).toString() if picture.suffix in (".png", ".svg") else ""


def make_page_style(theme: Theme) -> str:
    """Return the style sheet of a page, in the subset of CSS that Qt reads."""
    c, px = {name: theme.color(name).name() for name in theme.palette.colors}, theme.px
    mono = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
    return f"""
body {{ color: {c["text1"]}; }}
p, li {{ line-height: 135%; margin-top: {px(4)}px; margin-bottom: {px(6)}px; }}
h1 {{ font-size: {px(24)}px; font-weight: 600; margin-bottom: {px(10)}px; }}
h2 {{ font-size: {px(17)}px; font-weight: 600; margin-top: {px(24)}px; margin-bottom: {px(6)}px; }}
h3, h4 {{ font-size: {px(14)}px; font-weight: 600; margin-top: {px(16)}px; margin-bottom: {px(2)}px; }}
b, strong {{ font-weight: 600; }}
a {{ color: {c["link"]}; text-decoration: none; }}
code {{ font-size: {px(12)}px; }}
code, pre {{ font-family: "{mono}"; }}
pre {{ background-color: {c["sunken"]}; margin-top: {px(8)}px; margin-bottom: {px(8)}px; white-space: pre;
  font-size: {px(11)}px; }}
pre.sh {{ white-space: pre-wrap; }}
table {{ border-color: {c["hair"]}; border-style: solid; border-collapse: collapse;
  margin-top: {px(6)}px; margin-bottom: {px(10)}px; }}
th {{ background-color: {c["sunken"]}; text-align: left; font-weight: 600; }}
th, td {{ font-size: {px(13)}px; }}
"""


class ManualWindow(QWidget):
    """Not modal, one per program. Ctrl+F searches, Enter opens, Alt+Left goes back, Esc closes."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self.setAttribute(Qt.WidgetAttribute.WA_QuitOnClose, False)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(tr("GPU Desk manual"))
        self.search = QLineEdit()
        self.search.setPlaceholderText(tr("Search the manual"))
        self.search.setAccessibleName(tr("Search the manual"))
        self.search.setClearButtonEnabled(True)
        self.search.addAction(theme.icon("search"), QLineEdit.ActionPosition.LeadingPosition)
        self.search.textChanged.connect(self._show_hits)
        self.search.installEventFilter(self)
        list_widget = QListWidget()
        list_widget.setFrameShape(QFrame.Shape.NoFrame)
        list_widget.setProperty("kind", "contents")
        list_widget.setWordWrap(True)
        list_widget.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        list_widget.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        list_widget.itemActivated.connect(self._open_item)
        list_widget.itemClicked.connect(self._open_item)
        self.list = list_widget
        self.note = ThemedLabel(theme, font="small", color="text2", wrap=True)
        self.view = ManualView(theme)
        self.view.sourceChanged.connect(self._mark_page)
        self._lay_out()
        for keys, run in (
            ("Ctrl+F", self._go_to_search),
            ("F1", lambda: self.show_topic(CONTENTS)),
            ("Alt+Left", self.view.backward),
            ("Alt+Right", self.view.forward),
            ("Ctrl+W", self.close),
        ):
            QShortcut(QKeySequence(keys), self).activated.connect(run)
        self._ring = FocusRing(self, theme)
        self._show_hits("")
        resize_to_fit(self, theme.px(_WIDTH), theme.px(_HEIGHT))
        theme.follow(self._dress)

    def _dress(self) -> None:
        fill_background(self, self._theme.color("page"))

    @property
    def topic(self) -> str:
        return read_topic(self.view.source())

    def show_topic(self, topic: str) -> None:
        """Show a page or a section of it, and bring the window to the front."""
        self.view.setSource(make_url(topic))
        self.setWindowState(self.windowState() & ~Qt.WindowState.WindowMinimized)
        self.show()
        self.raise_()
        self.activateWindow()
        self.view.setFocus(Qt.FocusReason.OtherFocusReason)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            key = Qt.Key(event.key())
            if key in _TO_LIST:
                self.list.setFocus(Qt.FocusReason.TabFocusReason)
                return True
            if key in _OPENING:
                self._open_item(self.list.currentItem())
                return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
        elif self.search.text():
            self.search.clear()
        else:
            self.close()

    def _lay_out(self) -> None:
        px = self._theme.px
        self.back = IconButton(self._theme, "arrow-left", tr("Go back"), self.view.backward, key="Alt+Left")
        self.view.backwardAvailable.connect(self.back.setEnabled)
        self.back.setEnabled(False)
        bar = make_row(self.back, (self.search, 1), gap=px(6))
        side = QWidget()
        make_column(bar, self.note, (self.list, 1), gap=px(8), margins=(px(12), px(12), px(8), px(12)), on=side)
        splitter = QSplitter(Qt.Orientation.Horizontal)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(side)
        splitter.addWidget(self.view)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([px(_SIDE), px(_WIDTH - _SIDE)])
        make_row(splitter, on=self)

    def _go_to_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    def _show_hits(self, words: str) -> None:
        """List the sections with the words, or the contents without any."""
        self.list.clear()
        hits = search_manual(words)
        if not words.strip():
            self.list.setAccessibleName(tr("Contents"))
            for block in read_page(CONTENTS).blocks:
                if isinstance(block, Heading) and block.level == 2:
                    heading = QListWidgetItem(block.text)
                    heading.setFont(self._theme.font("small_strong"))
                    heading.setForeground(self._theme.color("text3"))
                    heading.setFlags(Qt.ItemFlag.NoItemFlags)
                    self.list.addItem(heading)
                elif isinstance(block, ItemList):
                    for item in block.items:
                        (link,) = parse_inline(item)
                        self._add_item(make_plain(item), link.target.removesuffix(".md"))
            self._mark_page(self.view.source())
        else:
            self.list.setAccessibleName(tr("Search results"))
            for hit in hits:
                self._add_item(f"{hit.title}\n{hit.excerpt}", hit.topic)
            self.list.setCurrentRow(0)
        self.note.setText(trn("{n} section found", "{n} sections found", len(hits)))
        self.note.setVisible(bool(words.strip()))
        self.search.setAccessibleDescription(self.note.text() if words.strip() else "")

    def _add_item(self, text: str, topic: str) -> None:
        item = QListWidgetItem(text)
        item.setData(_TOPIC_ROLE, topic)
        self.list.addItem(item)

    def _open_item(self, item: QListWidgetItem | None) -> None:
        topic = None if item is None else item.data(_TOPIC_ROLE)
        if topic:
            self.view.setSource(make_url(topic))

    def _mark_page(self, url: QUrl) -> None:
        """Mark a page in the contents; the view signals a new page before loading it."""
        page = read_topic(url).partition("#")[0]
        for item in (self.list.item(row) for row in range(self.list.count())):
            if item.data(_TOPIC_ROLE) == page:
                self.list.setCurrentItem(item)
