"""Pages of the reference, put into the frame that Sphinx has made of the first page of each folder.

Sphinx takes some tens of milliseconds for a page, of which there are thousands.
"""

import re
from html import escape

BODY, SECTION = "THE BODY OF THE PAGE", "THE CONTENTS OF THE PAGE"


def first_page(title):
    """What Sphinx makes a frame of."""
    return f"# {title}\n\n{BODY}\n\n## {SECTION}\n"


class Frame:
    def __init__(self, text, title):
        article = re.compile(r"<section id=.*?</section>\s*</section>", re.DOTALL)
        text, found = article.subn("\0body\0", text)
        text = re.sub(r"<title>.*?</title>", "<title>\0title\0 - Rheos</title>", text, count=1)
        contents = re.compile(r'(<div class="toc-tree">).*?(</div>)', re.DOTALL)
        text, also = contents.subn("\\1\0contents\0\\2", text)
        # What stands before and behind the first page is not beside the others.
        text = re.sub(r'<div class="related-pages">.*?</div>\s*(?=<div class="bottom-of-page">)',
                      "", text, flags=re.DOTALL)  # fmt: skip
        text = re.sub(r'<link rel="(next|prev)"[^>]*>', "", text)
        if (found, also) != (1, 1):
            raise SystemExit(f"site: the theme's page of {title!r} is not as it was: no frame")
        self.text = text
        # As the theme has a page without sections.
        self.without = text.replace('class="toc-drawer"', 'class="toc-drawer no-toc"')

    def fill(self, page):
        items = "".join(
            f'<li><a class="reference internal" href="#{anchor}">{escape(shown)}</a></li>'
            for anchor, shown in page.contents
        )
        title = escape(page.title)
        kind = f'<p class="kind">{escape(page.kind)}</p>'
        many = ' class="members"' if page.kind == "Python, class" else ""
        body = f'<section id="top"{many}>{kind}<h1>{title}</h1>{page.body()}</section>'
        text = self.text if page.contents else self.without
        return (
            text.replace("\0title\0", title)
            .replace("\0contents\0", f"<ul>{items}</ul>" if items else "")
            .replace("\0body\0", body)
        )


def fill(folder, pages):
    """Writes the pages into the site; those of one folder have one frame, its first page."""
    frames = {}
    for page in pages:
        inside = page.path.partition("/")[0]
        if inside not in frames:
            frames[inside] = Frame((folder / inside / "index.html").read_text(), inside)
        (folder / page.path).write_text(frames[inside].fill(page))
