// What a reader cannot read on the page, as a list of findings. Boxes are [left, top, right, bottom] in pixels,
// from the upper left corner of the figure, or of the page.
(async (settings) => {
  const found = [];
  const report = (kind, figure, texts, boxes, detail) => found.push({ kind, figure, texts, boxes, detail });
  // What a reader can open is examined too.
  document.querySelectorAll('details').forEach(d => { d.open = true; });
  document.querySelectorAll('.elsewhere').forEach(e => e.classList.remove('elsewhere'));
  await document.fonts.ready;
  await new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)));

  const shown = e => e.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const short = text => { const t = text.replace(/\s+/g, ' ').trim(); return t.length > 60 ? t.slice(0, 59) + '…' : t; };
  const round = v => Math.round(v * 10) / 10;
  const nameOf = e => {
    const tag = e.tagName.toLowerCase();
    const title = e.querySelector(':scope > title, :scope > caption, :scope > figcaption');
    const outer = e.closest('figure, table, section[id]');
    const name = e.getAttribute('aria-label') || title?.textContent || e.id
      || outer?.querySelector('figcaption, caption')?.textContent || outer?.id || '';
    return short(`${tag} ${name}`);
  };

  // Text as a quadrilateral of its ink on the screen.
  const pen = document.createElement('canvas').getContext('2d');
  const quad = (m, left, top, right, bottom) =>
    [[left, top], [right, top], [right, bottom], [left, bottom]]
      .map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f]);
  const bounds = q => {
    const [x, y] = [q.map(p => p[0]), q.map(p => p[1])];
    return [Math.min(...x), Math.min(...y), Math.max(...x), Math.max(...y)];
  };
  const ink = (e, box, text) => {
    // Chromium's box is as high as the font's highest and lowest letters; lines of text may share that.
    const style = getComputedStyle(e);
    pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
    const m = pen.measureText(text);
    const whole = m.fontBoundingBoxAscent + m.fontBoundingBoxDescent;
    if (e.childElementCount || !(whole > 0)) return [box.x, box.y, box.x + box.width, box.y + box.height];
    const scale = box.height / whole;
    return [box.x, box.y + scale * (m.fontBoundingBoxAscent - m.actualBoundingBoxAscent),
      box.x + box.width, box.y + box.height - scale * (m.fontBoundingBoxDescent - m.actualBoundingBoxDescent)];
  };
  const united = e => {
    // A tspan has no box of its own.
    const n = e.getNumberOfChars();
    let all = null;
    for (let i = 0; i < n; i++) {
      const c = e.getExtentOfChar(i);
      const [r, b] = [c.x + c.width, c.y + c.height];
      all = all ? [Math.min(all[0], c.x), Math.min(all[1], c.y), Math.max(all[2], r), Math.max(all[3], b)]
        : [c.x, c.y, r, b];
    }
    return all && { x: all[0], y: all[1], width: all[2] - all[0], height: all[3] - all[1] };
  };
  const textsOf = svg => {
    const out = [];
    for (const e of svg.querySelectorAll('text')) {
      if (e.closest('defs, symbol, marker, clipPath, mask, pattern') || !shown(e)) continue;
      const lines = [...e.querySelectorAll('tspan')].filter(t => t.hasAttribute('x') || t.hasAttribute('y'));
      const m = e.getScreenCTM();
      if (!m) continue;
      for (const part of lines.length ? lines : [e]) {
        const text = part.textContent.replace(/\s+/g, ' ').trim();
        const style = getComputedStyle(part);
        const halo = style.stroke !== 'none';
        if (!text || (style.fill === 'none' && !halo) || +style.fillOpacity === 0) continue;
        const box = part === e ? e.getBBox() : united(part);
        if (!box || !(box.width > 0)) continue;
        const q = quad(m, ...ink(part, box, text));
        // The height of a letter, whatever the rotation.
        const size = parseFloat(style.fontSize) * Math.hypot(m.c, m.d);
        out.push({ text, q, box: bounds(q), size, halo });
      }
    }
    return out;
  };
  // How far two convex quadrilaterals overlap along the direction where they do so least.
  const depth = (p, q) => {
    let least = Infinity;
    for (const [a, other] of [[p, q], [q, p]]) {
      for (let i = 0; i < 2; i++) {
        const [dx, dy] = [a[i + 1][0] - a[i][0], a[i + 1][1] - a[i][1]];
        const length = Math.hypot(dx, dy) || 1;
        const along = ([x, y]) => (x * -dy + y * dx) / length;
        const [u, v] = [a.map(along), other.map(along)];
        least = Math.min(least, Math.min(Math.max(...u), Math.max(...v)) - Math.max(Math.min(...u), Math.min(...v)));
      }
    }
    return least;
  };

  // Centres of the points that a mark shows: of a path, the start of each of its parts.
  const centres = mark => {
    const d = mark.getAttribute('d'), m = mark.getScreenCTM();
    if (d && /h0$/.test(d)) {
      // Not the box of the inner picture's element: browsers differ in what it holds.
      const svg = mark.closest('svg'), v = svg.viewBox.baseVal, c = svg.getScreenCTM();
      const frame = v && v.width > 0
        ? { left: c.a * v.x + c.e, top: c.d * v.y + c.f, right: c.a * (v.x + v.width) + c.e, bottom: c.d * (v.y + v.height) + c.f }
        : svg.getBoundingClientRect();
      return d.split('M').slice(1).map(part => part.split(/[ h]/).map(Number))
        .map(([x, y]) => [m.a * x + m.c * y + m.e, m.b * x + m.d * y + m.f])
        .filter(([x, y]) => x > frame.left && x < frame.right && y > frame.top && y < frame.bottom);
    }
    const r = mark.getBoundingClientRect();
    // Bars and cells may carry text; points may not.
    return Math.max(r.width, r.height) > settings.point ? [] : [[(r.left + r.right) / 2, (r.top + r.bottom) / 2]];
  };

  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    if (svg.parentElement.closest('svg') || !shown(svg) || !(frame.width > 0 && frame.height > 0)) continue;
    const name = nameOf(svg);
    const inside = b => [b[0] - frame.left, b[1] - frame.top, b[2] - frame.left, b[3] - frame.top].map(round);
    const texts = textsOf(svg);
    const edge = [0, 0, frame.width, frame.height].map(round);
    for (const t of texts) {
      if (t.size < settings.smallest - 0.05) {
        report('SmallText', name, [short(t.text)], [inside(t.box)], `${t.size.toFixed(1)} px`);
      }
      const out = Math.max(frame.left - t.box[0], frame.top - t.box[1], t.box[2] - frame.right, t.box[3] - frame.bottom);
      if (out > settings.slack) {
        report('OutsideFigure', name, [short(t.text)], [inside(t.box), edge], `${out.toFixed(1)} px beyond the figure`);
      }
    }
    const sorted = [...texts].sort((a, b) => a.box[0] - b.box[0]);
    sorted.forEach((a, i) => {
      for (let j = i + 1; j < sorted.length && sorted[j].box[0] < a.box[2]; j++) {
        const b = sorted[j];
        if (b.box[1] >= a.box[3] || a.box[1] >= b.box[3]) continue;
        // A text drawn twice, the lower one with an outline, is one text.
        if (a.text === b.text && a.halo !== b.halo && a.box.every((v, k) => Math.abs(v - b.box[k]) < 0.5)) continue;
        const d = depth(a.q, b.q);
        if (d > settings.slack) {
          report('Overlap', name, [short(a.text), short(b.text)], [inside(a.box), inside(b.box)], `by ${d.toFixed(1)} px`);
        }
      }
    });
    for (const mark of svg.querySelectorAll('.mark, circle[data-tip]')) {
      if (!shown(mark)) continue;
      for (const [x, y] of centres(mark)) {
        for (const t of texts) {
          if (x <= t.box[0] || x >= t.box[2] || y <= t.box[1] || y >= t.box[3]) continue;
          const within = t.q.every((p, i) => {
            const n = t.q[(i + 1) % 4];
            return (n[0] - p[0]) * (y - p[1]) - (n[1] - p[1]) * (x - p[0]) > 0;
          });
          if (within) report('CoversMark', name, [short(t.text)], [inside(t.box), inside([x, y, x, y])], '');
        }
      }
    }
  }

  const onPage = r => [r.left + scrollX, r.top + scrollY, r.right + scrollX, r.bottom + scrollY].map(round);
  for (const e of document.querySelectorAll('canvas, img[src*="svg"], object, embed, iframe')) {
    const r = e.getBoundingClientRect();
    if (shown(e) && r.width > 0 && r.height > 0) report('NotInspectable', nameOf(e), [], [onPage(r)], '');
  }

  // HTML text: one finding for each kind of element and size.
  const small = new Map();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walk.nextNode(); node; node = walk.nextNode()) {
    const e = node.parentElement;
    if (!node.data.trim() || e.closest('svg, script, style, noscript, template, option')) continue;
    const size = parseFloat(getComputedStyle(e).fontSize);
    if (size >= settings.smallest - 0.05 || !shown(e)) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const r = range.getBoundingClientRect();
    if (!(r.width > 0 && r.height > 0)) continue;
    const near = e.closest('table, figure, caption, figcaption, p, li, section, main, body');
    const key = `${nameOf(near)}|${e.tagName}|${size}`;
    const first = small.get(key);
    if (first) first.count++;
    else small.set(key, { near, e, size, r, text: node.data, count: 1 });
  }
  for (const s of small.values()) {
    report('SmallText', nameOf(s.near), [short(s.text)], [onPage(s.r)],
      `${s.size.toFixed(1)} px, ${s.count} × <${s.e.tagName.toLowerCase()}>`);
  }

  for (const e of document.querySelectorAll('table, figure, svg, canvas, img, pre')) {
    const r = e.getBoundingClientRect();
    if (!shown(e) || !(r.width > 0) || e.parentElement.closest('svg')) continue;
    for (let a = e.parentElement; a && a !== document.documentElement; a = a.parentElement) {
      const style = getComputedStyle(a);
      if (['auto', 'scroll'].includes(style.overflowX)) break;
      if (['inline', 'contents'].includes(style.display)) continue;
      const box = a.getBoundingClientRect();
      const out = Math.max(r.right - box.right, box.left - r.left);
      if (out > settings.slack) {
        report('TooWide', nameOf(e), [], [onPage(r), onPage(box)], `${out.toFixed(1)} px wider than <${a.tagName.toLowerCase()}>`);
        break;
      }
      if (['absolute', 'fixed'].includes(style.position)) break;
    }
  }

  // What a reader is told: the numbers of the answer stand on the page too, a name has one value, and what is cut has its
  // whole elsewhere.
  const said = e => e.textContent.replace(/\s+/g, ' ').trim();
  const number = /(?<![\w.])(?:\d+(?:\.\d+)? (?:%|[pnµmkMGTP]?(?:s|J|W|B|Hz|flop)(?:\/(?:s|J|B|W))?)(?!\w)|×\d+\.\d+)/g;
  const answers = [...document.querySelectorAll('header .answer')];
  const main = document.querySelector('main');
  if (main && document.querySelector('header h1')) {
    const named = new Set([...document.querySelectorAll('header .answers dt')].map(said));
    const missing = ['How sure', 'Next'].filter(name => !named.has(name));
    if (!answers.length) missing.unshift('answer');
    for (const name of missing) report('Unanswered', name, [], [], document.title);
  }
  if (main) {
    const lists = [...document.querySelectorAll('script.tips, script.shared-tips')].map(e => e.textContent);
    const parts = 'td, th, li, p, dd, h2, figcaption, pre, svg text';
    const rest = [...main.querySelectorAll(parts), ...document.querySelectorAll('.headline dd, footer dd')].map(said).join(' | ');
    for (const a of answers) {
      for (const n of said(a).match(number) ?? []) {
        const pieces = rest.split(n.replace('×', ''));
        const at = pieces.slice(1).some((after, i) => !/[\d.]$/.test(pieces[i]) && !/^[\w.]/.test(after));
        if (!at) report('Unsupported', 'answer', [n], [], short(said(a)));
      }
    }
    const values = new Map();
    for (const table of main.querySelectorAll('table')) {
      const heads = [...table.tHead?.rows[0]?.cells ?? []].map(said);
      const rows = [...table.tBodies[0]?.rows ?? []];
      const names = rows.map(r => r.cells[0] ? said(r.cells[0]) : '');
      if (new Set(names).size < names.length) continue;
      const part = table.closest('section')?.id ?? '';
      rows.forEach((row, i) => [...row.cells].slice(1).forEach((cell, k) => {
        const text = said(cell), head = heads[k + 1];
        // A number is a name within its table alone.
        if (!/\d/.test(text) || /^\d+$/.test(names[i]) || heads.indexOf(head) !== heads.lastIndexOf(head)) return;
        const key = [part, heads[0], names[i], head].join(' / ');
        const before = values.get(key);
        if (before === undefined) values.set(key, text);
        else if (before !== text) report('Contradiction', nameOf(table), [before, text], [], key);
      }));
    }
    // Not what is cut itself, in drawings of other widths too.
    const cuts = /[^\s…]…|…\S/;
    const pieces = [...document.querySelectorAll('svg text, td, th, li, p, dd, pre, figcaption, caption, h2, summary')].map(said);
    const whole = [...pieces, ...lists.flatMap(t => t.split('"'))].filter(t => !cuts.test(t)).join(' | ');
    for (const e of document.querySelectorAll('svg text, td, th, li, p, dd')) {
      if (!shown(e)) continue;
      const text = said(e), at = text.search(cuts);
      if (at < 0) continue;
      const cut = text.indexOf('…', at);
      const [before, after] = [text.slice(Math.max(0, cut - 30), cut), text.slice(cut + 1, cut + 31).replace(/( \(|…).*/, '')];
      const rest = !before.trim() ? whole.includes(after.trim())
        : whole.split(before.trim()).slice(1).some(t => t.slice(0, 400).includes(after.trim()));
      if (!rest) report('Cut', nameOf(e.closest('svg, table, section') ?? e), [short(text)], [], '');
    }
  }

  const root = document.documentElement;
  if (root.clientWidth > settings.width + 1) {
    report('PageOverflow', 'page', [], [], `laid out for ${root.clientWidth} px: <meta name="viewport"> is missing`);
  } else if (root.scrollWidth > root.clientWidth) {
    const widest = [...document.body.querySelectorAll('*')]
      .filter(e => shown(e) && e.getBoundingClientRect().right + scrollX >= root.scrollWidth - 0.5).pop();
    report('PageOverflow', 'page', [], widest ? [onPage(widest.getBoundingClientRect())] : [],
      `${root.scrollWidth - root.clientWidth} px${widest ? ', by ' + nameOf(widest) : ''}`);
  }
  return found;
})
