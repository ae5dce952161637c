"""The page of `rheos view` in Chromium, where that is installed."""

import json
import subprocess

import browser
import pytest
import rheos.v1 as tf
from viewing import BUILD, GOLDEN, TRAINING, logs, served, view, write_graph

__all__ = ["logs"]  # a fixture

needs_chromium = pytest.mark.skipif(
    browser.find_chromium() is None, reason="chromium is not installed"
)


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with browser.Page(tmp_path_factory.mktemp("chromium")) as page:
        yield page
        assert page.said == []


def opened(page, path, folder):
    done = view(path, "-o", folder / "page.html")
    assert done.returncode == 0, done.stderr
    page.open(folder / "page.html")
    return folder / "page.html"


BOX = "VIEW.boxes.find((b) => b.title === {})"


def box_of(title):
    return BOX.format(json.dumps(title))


def colour_by(page, what):
    page.run(f"$('colouring').value = '{what}'; $('colouring').dispatchEvent(new Event('change'))")


@needs_chromium
def test_a_scope_opens_where_it_is_clicked_and_closes(chromium, tmp_path):
    opened(chromium, TRAINING, tmp_path)
    assert chromium.run(f"{box_of('Momentum')}.isOpen") is False
    chromium.click(f"{box_of('Momentum')}.element.querySelector('.label')")
    chromium.until(f"{box_of('Momentum')}.isOpen && {box_of('update_parts')}")
    assert chromium.run(f"{box_of('Momentum')}.element.getAttribute('aria-expanded')") == "true"
    chromium.click(f"{box_of('Momentum')}.element.querySelector('.close')")
    chromium.until(f"!{box_of('Momentum')}.isOpen && !{box_of('update_parts')}")


@needs_chromium
def test_search_opens_what_a_node_lies_in(chromium, tmp_path):
    opened(chromium, TRAINING, tmp_path)
    chromium.run("$('search').focus()")
    chromium.call("Input.insertText", text="op:applymomentum")
    chromium.until("$('found').children.length > 3")
    chromium.press("Enter")
    op = "VIEW.chosen.box.graph.op(VIEW.chosen.box.item)"
    chromium.until(f"VIEW.chosen && {op} === 'ApplyMomentum'")
    text = chromium.run("$('panel').textContent")
    assert "use_nesterov" in text and "float_ref" in text


@needs_chromium
def test_what_a_node_needs_and_reaches_lights_up(chromium, tmp_path):
    opened(chromium, TRAINING, tmp_path)
    chromium.click(f"{box_of('sub')}.element.querySelector('.label')")
    classes = "Object.fromEntries(VIEW.boxes.map((b) => [b.title, [...b.element.classList]]))"
    chromium.until("VIEW.chosen")
    lit = chromium.run(classes)
    assert "up" in lit["x"] and "up" in lit["add"] and "down" in lit["loss"]
    assert "chosen" in lit["sub"] and "dim" in lit["cond"]


@needs_chromium
def test_an_edge_is_followed(chromium, tmp_path):
    opened(chromium, TRAINING, tmp_path)
    edge = "VIEW.edges.find(({edge}) => edge.label === 'float [?,3]').edge"
    click = "dispatchEvent(new MouseEvent('click', {bubbles: true}))"
    chromium.run(f"{edge}.element.querySelector('.hit').{click}")
    assert "float [?,3]" in chromium.run("$('panel').textContent")
    chromium.run("[...$('panel').querySelectorAll('.link')].at(-1).click()")
    chromium.until("VIEW.chosen && VIEW.chosen.box")


@needs_chromium
def test_colours_change(chromium, tmp_path):
    opened(chromium, TRAINING, tmp_path)
    own = f"{box_of('Tanh')}.element.querySelector('.face').style.getPropertyValue('--own')"
    assert chromium.run(own) == ""
    colour_by(chromium, "op")
    chromium.until(own)
    assert "Placeholder" in chromium.run("$('legend').textContent")


@needs_chromium
def test_functions_open_as_scopes_do(chromium, tmp_path):
    opened(chromium, GOLDEN / "saved_models" / "functions", tmp_path)
    chromium.run("toggle(VIEW.boxes.find((b) => b.calls.length))")
    chromium.until("VIEW.boxes.some((b) => b.note === '_Arg')")


@needs_chromium
def test_values_and_timeline_stand_beside_the_graph(chromium, tmp_path, logs):
    opened(chromium, logs, tmp_path)
    assert chromium.run("[...$('tabs').children].map((t) => t.textContent)") == [
        "Graph", "Values", "Timeline", "Scopes by time",
    ]  # fmt: skip
    chromium.click("$('tabs').children[1]")
    chromium.until("document.images.length && document.images[0].naturalWidth === 3")
    assert chromium.run("$('plots').querySelectorAll('.curve').length") == 2
    assert chromium.run("$('plots').querySelectorAll('.bad').length") == 1
    assert chromium.run("$('plots').querySelectorAll('.ridge').length") == 5
    chromium.click("$('tabs').children[2]")
    chromium.until("$('plots').querySelector('canvas')")
    chromium.click("$('tabs').children[0]")
    colour_by(chromium, "time")
    own = f"{box_of('layer')}.element.querySelector('.face').style.getPropertyValue('--own')"
    chromium.until(f"({own}).includes('color-mix')")
    chromium.run("reveal(GRAPHS[0], findNodes('layer/relu', 1).found[0].i)")
    chromium.until("$('panel').textContent.includes('memory96 B')")


@needs_chromium
def test_scopes_are_as_wide_as_their_time(chromium, tmp_path, logs):
    opened(chromium, logs, tmp_path)
    chromium.click("$('tabs').children[3]")
    flame = "[...document.querySelectorAll('.flame button')]"
    told = chromium.run(f"{flame}.map((b) => b.ariaLabel || b.getAttribute('aria-label'))")
    assert told[0].startswith("all: ") and told[0].endswith(", 100 %")
    layer = f"{flame}.find((b) => b.getAttribute('aria-label').startsWith('layer: '))"
    all_time = chromium.run("timesOf(allTraces()[0].trace)[GRAPHS[0].root]")
    assert chromium.run("costsOf(allTraces()[0].trace).time.reduce((a, b) => a + b)") == all_time
    width = chromium.run(f"{layer}.getBoundingClientRect().width / {flame}[0].clientWidth")
    share = float(next(t for t in told if t.startswith("layer: ")).split(", ")[1].rstrip(" %"))
    assert abs(100 * width - share) < 1
    chromium.click(layer)
    assert chromium.run(f"{flame}[0].getAttribute('aria-label')").startswith("layer: ")
    chromium.click(f"{flame}[0]")  # out again
    assert chromium.run(f"{flame}[0].getAttribute('aria-label')") == told[0]
    assert chromium.said == []


@needs_chromium
def test_a_served_page_follows_a_folder(chromium, tmp_path):
    writer = tf.summary.FileWriter(str(tmp_path))

    def write(step):
        value = tf.Summary.Value(tag="a", simple_value=float(step))
        writer.add_summary(tf.Summary(value=[value]), step)
        writer.flush()

    write(0)
    with served(tmp_path) as port:
        chromium.open(f"http://127.0.0.1:{port}/")
        chromium.until("$('plots').querySelector('.read').textContent === '.: 0'")
        write(7)
        chromium.until("$('plots').querySelector('.read').textContent === '.: 7'")
        chromium.run("location.href = 'about:blank'")
    writer.close()


@needs_chromium
def test_the_panel_says_what_the_plan_made_of_a_node(chromium, tmp_path):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [None, 3], name="x")
        doubled = tf.multiply(tf.ones([3, 2]), 2.0, name="doubled")
        y = tf.nn.relu(tf.matmul(x, doubled, name="product"), name="y")
        tf.exp(tf.square(y, name="square"), name="exp")
        tf.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    page = tmp_path / "page.html"
    done = view(tmp_path / "g.pb", "--plan", "--feed-shape", "x=5,3", "-o", page)
    assert done.returncode == 0, done.stderr
    chromium.open(page)

    def fact(name):
        nodes = "[...Array(GRAPHS[0].size).keys()]"
        own = f"{nodes}.find((i) => GRAPHS[0].name(i) === {json.dumps(name)})"
        return chromium.run(f"planOf({own}).text")

    assert fact("product") == "taken into y by take_activation"
    assert "_FusedMatMul with Relu by take_activation" in fact("y")
    assert "folded by constant_folding" in fact("doubled")
    assert "in one loop with exp by elementwise_fusion" in fact("square")
    chromium.run("reveal(GRAPHS[0], findNodes('product', 1).found[0].i)")
    chromium.until("$('panel').textContent.includes('taken into y')")


@needs_chromium
def test_what_a_traced_run_reached_of_the_limit(chromium, tmp_path):
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [256, 256], name="x")
        with tf.name_scope("layer"):
            y = tf.matmul(x, x, name="product")
        tf.negative(tf.reduce_sum(y, 1), name="y")
        tf.train.write_graph(graph, str(tmp_path), "g.pb", as_text=False)
    trace, page, rheos = tmp_path / "trace.json", tmp_path / "page.html", BUILD / "bin" / "rheos"
    bench = [rheos, "bench", tmp_path / "g.pb", "--fetch", "y", "--runs", "3", "--trace", trace]
    subprocess.run(bench, check=True, capture_output=True)
    assert view(tmp_path / "g.pb", "--trace", trace, "-o", page).returncode == 0
    chromium.open(page)
    assert "Timeline" in chromium.run("$('tabs').textContent")
    colour_by(chromium, "limit")
    style = f"{box_of('layer/product')}.element.querySelector('.face').style"
    chromium.until(f"{style}.getPropertyValue('--own').includes('color-mix')")
    sums = [chromium.run(f"sumOf({box_of('layer/product')}, '{k}')") for k in ("flops", "time")]
    runs = len([e for e in json.loads(trace.read_text())["traceEvents"] if e.get("cat") == "Step"])
    assert sums[0] == runs * 2 * 256**3
    chromium.run(f"select({box_of('layer/product')})")
    assert "%, set by " in chromium.run("$('panel').textContent")
    trace.write_text('{"traceEvents": [' + "</script>")
    assert view(tmp_path / "g.pb", "--trace", trace, "-o", page).returncode == 0
    chromium.open(page)
    assert "cannot be read" in chromium.run("$('panel').textContent")


LOOKED_AT = sorted(
    path
    for folder in ("graphs", "flow", "flow_by_hand", "functions", "meta_graphs", "saved_models")
    for path in (GOLDEN / folder).glob("*")
    if path.suffix in (".pb", ".meta") or path.is_dir()
)[::9]


@needs_chromium
def test_recorded_graphs_open_to_the_last_box(chromium, tmp_path):
    """All that can be opened, up to a number of boxes; nothing fails or says so on the console."""
    assert len(LOOKED_AT) > 10
    for path in LOOKED_AT:
        opened(chromium, path, tmp_path)
        failed = chromium.run("""(async () => {
          for (let k = 0; k < 12; k++) {
            const box = VIEW.boxes.find((b) => b.isGroup && !b.isOpen);
            if (!box) break;
            await toggle(box);
            select(box);
            if (!box.element.isConnected) return box.key;
          }
          for (const box of VIEW.boxes.slice(0, 40)) select(box);
          $('aside').click();
          await draw();
          return $('status').textContent.includes('failed');
        })()""")
        assert failed is False, path
        chromium.run("$('aside').click()")
        assert chromium.said == [], path


@needs_chromium
def test_keys_move_open_and_close(chromium, tmp_path):
    opened(chromium, TRAINING, tmp_path)
    chromium.run("focusOn(VIEW.boxes.find((b) => b.title === 'Momentum'))")
    chromium.press("Enter")
    chromium.until(f"{box_of('Momentum')}.isOpen && {box_of('update_parts')}")
    chromium.press("Escape")
    chromium.until(f"!{box_of('Momentum')}.isOpen")
    chromium.press("ArrowUp")
    chromium.until("VIEW.chosen.box.title !== 'Momentum'")
    label = "document.activeElement.getAttribute('aria-label')"
    assert chromium.run(f"{label}.startsWith(VIEW.chosen.box.title)")
    chromium.press("/")
    assert chromium.run("document.activeElement.id") == "search"


@needs_chromium
def test_hostile_names_do_nothing(chromium, tmp_path):
    names = ["</script><script>document.title='owned'</script>", "<img src=x onerror=alert(1)>/a"]
    names += ["\u202eabc", "a\nb\tc\x01", "q" * 10000, "<!--", "]]>", "\\\"'&amp;", "s//t/", "/"]
    write_graph(tmp_path / "g.pbtxt", *((n, "Placeholder") for n in names))
    html = opened(chromium, tmp_path / "g.pbtxt", tmp_path).read_text()
    assert "document.title='owned'" in html and "</script><script>document" not in html
    assert chromium.run("document.title") == "g.pbtxt - Rheos"
    assert chromium.run("document.images.length + document.scripts.length") == 2
    assert chromium.run("VIEW.boxes.length") == len(names)
    assert chromium.run("[...Array(GRAPHS[0].size).keys()].map((i) => GRAPHS[0].name(i))") == names
    assert "\u202e" not in chromium.run("document.body.innerText")


@needs_chromium
@pytest.mark.parametrize(("width", "height"), [(1280, 800), (480, 700)])
def test_nothing_is_wider_than_the_window(chromium, tmp_path, width, height):
    chromium.resize(width, height)
    try:
        opened(chromium, TRAINING, tmp_path)
        assert chromium.run("document.documentElement.scrollWidth") <= width
        assert chromium.run("$('drawing').getBoundingClientRect().height") > 200
    finally:
        chromium.resize(1280, 800)


def large_graph(path, count):
    """A graph of about so many nodes: blocks of layers, and a flat scope of a tenth of it."""
    nodes, last = [("x", "Placeholder")], "x"
    for i in range(count * 9 // 10 // 12):
        scope = f"block_{i // 120}/part_{i // 12 % 10}/layer_{i % 12}"
        for k in range(12):
            name = f"{scope}/op_{k}" if k else f"{scope}/first"
            nodes.append((name, ["MatMul", "Add", "Relu", "Neg"][(k + i // 500) % 4], last))
            last = name
    for i in range(count // 10):
        op, source = ["Abs", "Exp", "Log"][i % 7 % 3], nodes[i * 13 % len(nodes)][0]
        nodes.append((f"flat/n{i}", op, source))
    return write_graph(path, *nodes)


# Seconds on an idle machine are far fewer (docs/view.md); a test that shares it allows for more.
@needs_chromium
@pytest.mark.parametrize(("count", "seconds"), [(100, 1), (5000, 2), (100000, 5)])
def test_large_graphs_open(chromium, tmp_path, count, seconds):
    page = opened(chromium, large_graph(tmp_path / "g.pbtxt", count), tmp_path)
    if count == 5000:
        assert page.stat().st_size < 3e6
    took = chromium.run("(performance.getEntriesByName('ready')[0].startTime)") / 1000
    assert took < 4 * seconds
    slowest = chromium.run("""(async () => {
      let slowest = 0;
      for (let k = 0; k < 4; k++) {
        const box = VIEW.boxes.find((b) => b.isGroup && !b.isOpen);
        if (!box) break;
        const start = performance.now();
        await toggle(box);
        slowest = Math.max(slowest, performance.now() - start);
      }
      return slowest;
    })()""")
    assert slowest < 1500
    assert chromium.run("VIEW.boxes.length") < 1000


def layered(folder):
    """A training graph of four alike layers and a loop, with its gradients."""
    with tf.Graph().as_default() as graph:
        h = tf.placeholder(tf.float32, [None, 8], name="x")
        for i in range(4):
            h = tf.layers.dense(h, 8, activation=tf.nn.relu, name=f"layer_{i}")
        with tf.name_scope("rnn"):
            body = lambda i, h: (i + 1, tf.tanh(tf.matmul(h, tf.ones([8, 8]))))  # noqa: E731
            _, h = tf.while_loop(lambda i, _: i < 5, body, [tf.constant(0), h])
        loss = tf.reduce_mean(tf.square(h), name="loss")
        tf.train.GradientDescentOptimizer(0.1).minimize(loss, name="train")
        return tf.train.write_graph(graph, str(folder), "g.pb", as_text=False)


@needs_chromium
def test_a_series_is_drawn_one_by_one_and_folded_again(chromium, tmp_path):
    opened(chromium, layered(tmp_path), tmp_path)
    chromium.click(f"{box_of('layer_* × 4')}.element.querySelector('.label')")
    chromium.until("$('panel').textContent.includes('Draw all 4 one by one')")
    chromium.run("[...$('panel').children].find((b) => /^Draw/.test(b.textContent)).click()")
    chromium.until(f"{box_of('layer_0')} && !{box_of('layer_* × 4')}")
    links = chromium.run("""VIEW.edges.filter(({box}) => box === ROOT)
      .map(({edge}) => `${edge.link.from} ${edge.link.to} ${edge.link.count}`)""")
    items = [chromium.run(f"{box_of(f'layer_{i}')}.item") for i in range(4)]
    for before, after in zip(items, items[1:]):
        assert f"{before} {after} 1" in links
    # What is opened of a member, found by search and so on is where it was.
    chromium.run("reveal(GRAPHS[0], findNodes('layer_2/MatMul', 1).found[0].i)")
    chromium.until("VIEW.chosen.box.title === 'MatMul'")
    assert chromium.run("VIEW.chosen.box.parent.title") == "layer_2"
    chromium.run(f"focusOn({box_of('layer_1')})")
    chromium.press("u")
    chromium.until(f"{box_of('layer_* × 4')} && !{box_of('layer_1')}")
    assert chromium.run("VIEW.chosen.box.title") == "layer_* × 4"


@needs_chromium
def test_gradients_have_the_colour_of_what_they_are_of(chromium, tmp_path):
    opened(chromium, layered(tmp_path), tmp_path)
    colour_by(chromium, "gradient")
    chromium.run(f"toggle({box_of('gradients')})")
    chromium.until(box_of("Square_grad"))
    own = "{}.element.querySelector('.face').style.getPropertyValue('--own')"
    colours = [chromium.run(own.format(box_of(t))) for t in ("Square", "Square_grad", "loss_grad")]
    assert colours[0] == colours[1] != "" and colours[2] not in ("", colours[0])
    chromium.run(f"select({box_of('Square')})")
    assert chromium.run(f"{box_of('Square_grad')}.element.classList.contains('pair')")
    assert "Gradients (1)gradients/Square_grad" in chromium.run("$('panel').textContent")


@needs_chromium
def test_loops_of_version_1_are_boxes_of_their_own(chromium, tmp_path):
    opened(chromium, layered(tmp_path), tmp_path)
    chromium.run(f"toggle({box_of('rnn')})")
    chromium.until(box_of("while"))
    assert chromium.run(f"{box_of('while')}.note").startswith("loop, ")
    chromium.run(f"select({box_of('while')})")
    assert "rnn/while/while_context" in chromium.run("$('panel').textContent")
    inside = chromium.run("""(() => {
      const graph = GRAPHS[0], all = [];
      const loop = [...Array(graph.count).keys()].find((i) => graph.loop(i));
      graph.eachNode(loop, (i) => all.push(graph.name(i)));
      return all;
    })()""")
    assert {"rnn/while/Exit", "rnn/while/Tanh", "gradients/f_count_1"} <= set(inside)
    assert "rnn/Const" not in inside and "gradients/b_count_1" not in inside


@needs_chromium
def test_two_graphs_are_coloured_by_what_differs(chromium, tmp_path):
    x, w = ("x", "Placeholder"), ("s/w", "Abs", "y")
    nodes = {"a": [x, ("y", "Neg", "x"), ("s/z", "Sqrt", "y"), w], "b": [x, ("y", "Exp", "x"), w]}
    nodes["b"].append(("n", "Tanh", "x"))
    one, two = (write_graph(tmp_path / f"{key}.pbtxt", *nodes[key]) for key in nodes)
    command = [BUILD / "bin" / "rheos", "diff", one, two, "-o", tmp_path / "page.html"]
    assert subprocess.run(command).returncode == 1
    chromium.open(tmp_path / "page.html")
    assert chromium.run("$('title').textContent") == "a.pbtxt → b.pbtxt"
    state = "[b.title, statesOf(b.graph)[b.item]]"
    states = chromium.run(f"Object.fromEntries(VIEW.boxes.map((b) => {state}))")
    assert states == {"x": "same", "y": "changed", "s": "holds", "n": "added"}
    own = "{}.element.querySelector('.face').style.getPropertyValue('--own')"
    colours = [chromium.run(own.format(box_of(t))) for t in ("x", "y", "s", "n")]
    assert colours[0] == "" and len(set(colours)) == 4
    assert chromium.run(f"{box_of('n')}.note") == "+ Tanh"
    chromium.run("reveal(GRAPHS[0], findNodes('s/z', 1).found[0].i)")
    chromium.until("$('panel').textContent.includes('only in the first')")
    assert chromium.run("VIEW.chosen.box.element.isConnected")
    chromium.run(f"select({box_of('y')})")
    assert "opNeg → Exp" in chromium.run("$('panel').textContent")


@needs_chromium
def test_the_map_shows_and_moves_the_window(chromium, tmp_path):
    opened(chromium, layered(tmp_path), tmp_path)
    chromium.run("fit(true)")
    assert chromium.run("$('map').style.visibility") == "hidden"
    chromium.run("zoomBy(3)")
    assert chromium.run("$('map').style.visibility") == "visible"
    before = chromium.run("VIEW.y")
    upper = "{...$('map').getBoundingClientRect().toJSON(), height: 4}"
    chromium.click(f"({{getBoundingClientRect: () => ({upper})}})")
    assert chromium.run("VIEW.y") > before
    assert 0 < chromium.run("VIEW.y") < chromium.run("$('drawing').clientHeight")
