'use strict';
(() => {
  const all = (root, what) => [...root.querySelectorAll(what)];
  const box = document.getElementById('tip');
  const show = (text, x, y) => {
    box.textContent = text;
    box.hidden = !text;
    const w = box.offsetWidth, h = box.offsetHeight;
    box.style.left = Math.max(4, Math.min(x + 12, innerWidth - w - 4)) + 'px';
    box.style.top = (y + h + 22 > innerHeight ? y - h - 8 : y + 14) + 'px';
  };

  // Where the font is missing, letters are narrowed rather than moved together.
  all(document, '.chart text[textLength]').forEach(t => t.setAttribute('lengthAdjust', 'spacingAndGlyphs'));

  // Tips: one list a chart, shared by its drawings.
  const lists = new Map(), shared = JSON.parse(document.querySelector('.shared-tips')?.textContent ?? '[]');
  const tipOf = (el, i) => {
    const chart = el.closest('.chart');
    if (!lists.has(chart)) lists.set(chart, JSON.parse(chart.querySelector('.tips')?.textContent ?? '[[],[]]'));
    // Texts that several charts show are kept once.
    const [names, tips] = lists.get(chart), tip = tips[i] ?? '';
    const values = (typeof tip === 'number' ? shared[tip] : tip).split('\t');
    return values.length > 1 ? values.map((v, k) => names[k] ? `${names[k]} ${v}` : v).join(' · ') : values[0];
  };
  const coordinates = new Map();
  const points = path => {
    if (!coordinates.has(path)) {
      const own = path.getAttribute('d') ?? document.querySelector(path.getAttribute('href')).getAttribute('d');
      coordinates.set(path, own.split('M').slice(1).map(s => s.split(/[ h]/).map(Number)));
    }
    return coordinates.get(path);
  };
  const nearest = (plot, x, y) => {
    let best = 15, text = '';
    for (const path of all(plot, '.mark[data-t]')) {
      if (path.closest('.hidden')) continue;
      const m = path.getScreenCTM();
      points(path).forEach((p, i) => {
        const d = Math.hypot(p[0] * m.a + m.e - x, p[1] * m.d + m.f - y);
        if (d < best) { best = d; text = tipOf(path, Number(path.dataset.t) + i); }
      });
    }
    return text;
  };
  // Pictures: the colour under the pointer, looked up in the levels of the colour bar.
  const grids = new Map();
  const pixels = id => {
    if (!grids.has(id)) {
      const grid = {data: null}, image = new Image();
      grids.set(id, grid);
      image.onload = () => {
        const c = document.createElement('canvas');
        [grid.w, grid.h] = [c.width, c.height] = [image.naturalWidth, image.naturalHeight];
        const context = c.getContext('2d');
        context.drawImage(image, 0, 0);
        grid.data = context.getImageData(0, 0, grid.w, grid.h).data;
      };
      image.src = document.getElementById(id).getAttribute('href');
    }
    return grids.get(id);
  };
  const short = v => {
    const a = Math.abs(v);
    return a && (a >= 1e5 || a < 1e-3) ? v.toExponential(1) : Number(v.toPrecision(3)).toString();
  };
  const along = ([, lo, hi, log], s) => log ? lo * (hi / lo) ** s : lo + s * (hi - lo);
  const named = (title, text) => {
    const [name, ...unit] = title.split(', ');
    return [name, text, ...unit].filter(Boolean).join(' ');
  };
  const levelOf = (rgb, bar) => {
    let best = 40, at = -1;
    for (let k = 0; k < bar.h; k++) {
      const d = rgb.reduce((sum, v, i) => sum + Math.abs(v - bar.data[4 * k + i]), 0);
      if (d < best) { best = d; at = k; }
    }
    return at;
  };
  const read = (plot, x, y) => {
    const [across, up, colours] = JSON.parse(plot.dataset.read);
    const inside = r => [(x - r.left) / r.width, (y - r.top) / r.height];
    const v = plot.viewBox.baseVal, w = plot.width.baseVal.value, h = plot.height.baseVal.value;
    const [a, b] = inside(plot.closest('.panel').querySelector('.ground').getBoundingClientRect());
    if (!(a >= 0 && a <= 1 && b >= 0 && b <= 1)) return '';
    const parts = [named(across[0], short(along(across, (v.x + a * v.width) / w))), named(up[0], short(along(up, 1 - (v.y + b * v.height) / h)))];
    const use = all(plot, 'use[href^="#p"]').filter(u => !u.closest('.hidden')).pop();
    if (colours && use) {
      const [range, down, id] = colours, bar = pixels(id), grid = pixels(use.getAttribute('href').slice(1));
      const [s, t] = inside(use.getBoundingClientRect());
      if (bar.data && grid.data && s >= 0 && s < 1 && t >= 0 && t < 1) {
        const k = 4 * (Math.floor(t * grid.h) * grid.w + Math.floor(s * grid.w));
        const rgb = [...grid.data.slice(k, k + 3)], level = grid.data[k + 3] > 250 ? levelOf(rgb, bar) : -1;
        if (level >= 0) {
          const share = 1 - (level + 0.5) / bar.h, top = down ? '≤' : '≥', bottom = down ? '≥' : '≤';
          const sign = level === 0 ? top : level === bar.h - 1 ? bottom : '≈';
          parts.push(named(range[0], `${sign} ${short(along(range, down ? 1 - share : share))}`));
        }
      }
    }
    return parts.join(' · ');
  };
  document.addEventListener('pointermove', e => {
    const plot = e.target.closest?.('.plot');
    const own = e.target.closest?.('[data-t]');
    let text = plot ? nearest(plot, e.clientX, e.clientY) : '';
    if (!text && own && !own.classList.contains('mark')) text = tipOf(own, own.dataset.t);
    if (!text && plot?.dataset.read) text = read(plot, e.clientX, e.clientY);
    if (text) show(text, e.clientX, e.clientY); else box.hidden = true;
  });

  // The legend shows and hides series, in all drawings of the chart.
  all(document, '.chart .k').forEach(key => {
    const flip = () => {
      const chart = key.closest('.chart'), s = key.dataset.s;
      const off = !key.classList.contains('off');
      all(chart, `.k[data-s="${s}"]`).forEach(k => { k.classList.toggle('off', off); k.setAttribute('aria-pressed', !off); });
      all(chart, '.s' + s).forEach(g => g.classList.toggle('hidden', off));
    };
    key.setAttribute('role', 'button');
    key.setAttribute('tabindex', '0');
    key.setAttribute('aria-pressed', 'true');
    key.addEventListener('click', flip);
    key.addEventListener('keydown', e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); flip(); } });
  });

  // Zoom: a drag chooses the part shown, a double click shows all.
  const prefixes = ['p', 'n', 'µ', 'm', '', 'k', 'M', 'G', 'T', 'P'];
  const number = v => Number(v.toPrecision(4)).toString();
  const withPrefix = v => {
    const k = v === 0 ? 0 : Math.max(-4, Math.min(5, Math.floor(Math.log10(Math.abs(v)) / 3 + 1e-9)));
    return number(v / 10 ** (3 * k)) + (k ? ' ' + prefixes[k + 4] : '');
  };
  const ticks = (lo, hi, log, most) => {
    if (log && hi / lo > 30) {
      const a = Math.ceil(Math.log10(lo)), b = Math.floor(Math.log10(hi)), step = Math.max(1, Math.ceil((b - a + 1) / most));
      return Array.from({length: Math.floor((b - a) / step) + 1}, (_, i) => 10 ** (a + i * step));
    }
    const raw = (hi - lo) / most, ten = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(m => m * ten).find(s => s >= raw);
    const out = [];
    for (let k = Math.ceil(lo / step); k * step <= hi; k++) out.push(k * step);
    return out;
  };
  const relabel = plot => {
    const [w, h] = [plot.width.baseVal.value, plot.height.baseVal.value];
    const [x0, y0] = [plot.x.baseVal.value, plot.y.baseVal.value];
    const v = plot.viewBox.baseVal;
    JSON.parse(plot.dataset.zoom).forEach(([lo, hi, log, factor, si], axis) => {
      const at = s => log ? lo * (hi / lo) ** s : lo + s * (hi - lo);
      const [a, b] = axis ? [at(1 - (v.y + v.height) / h), at(1 - v.y / h)] : [at(v.x / w), at((v.x + v.width) / w)];
      const group = plot.closest('.panel').querySelector(axis ? '.ty' : '.tx');
      group.replaceChildren(...ticks(a, b, log, axis ? h / 45 : w / 90).map(t => {
        const s = log ? Math.log(t / a) / Math.log(b / a) : (t - a) / (b - a);
        const text = document.createElementNS(plot.namespaceURI, 'text');
        text.setAttribute('x', axis ? x0 - 6 : x0 + s * w);
        text.setAttribute('y', axis ? y0 + (1 - s) * h + 4 : y0 + h + 15);
        text.setAttribute('text-anchor', axis ? 'end' : 'middle');
        text.setAttribute('font-size', '11.5');
        text.setAttribute('fill', 'var(--quiet)');
        text.textContent = si ? withPrefix(t) : number(t / factor);
        return text;
      }));
    });
  };
  all(document, '.plot[data-zoom]').forEach(plot => {
    const panel = plot.closest('.panel'), whole = plot.getAttribute('viewBox');
    const kept = ['.tx', '.ty'].map(c => panel.querySelector(c)).map(g => [g, [...g.childNodes]]);
    const extra = all(panel, '.grid, .tags, .over');
    let from = null, frame = null;
    const inside = e => {
      const r = plot.getBoundingClientRect(), v = plot.viewBox.baseVal;
      const share = (p, a, b) => Math.max(0, Math.min(1, (p - a) / (b - a)));
      const c = panel.querySelector('.ground').getBoundingClientRect();
      return [v.x + v.width * share(e.clientX, c.left, c.right), v.y + v.height * share(e.clientY, c.top, c.bottom), r];
    };
    plot.addEventListener('pointerdown', e => {
      if (e.button || e.pointerType === 'touch') return;
      from = inside(e);
      e.preventDefault();
    });
    addEventListener('pointermove', e => {
      if (!from) return;
      const to = inside(e);
      if (!frame) {
        frame = document.createElementNS(plot.namespaceURI, 'rect');
        frame.setAttribute('fill', 'var(--quiet)');
        frame.setAttribute('fill-opacity', '.2');
        plot.append(frame);
      }
      frame.setAttribute('x', Math.min(from[0], to[0]));
      frame.setAttribute('y', Math.min(from[1], to[1]));
      frame.setAttribute('width', Math.abs(from[0] - to[0]));
      frame.setAttribute('height', Math.abs(from[1] - to[1]));
    });
    addEventListener('pointerup', () => {
      if (frame) {
        const g = name => Number(frame.getAttribute(name)), v = plot.viewBox.baseVal;
        if (g('width') > 0.02 * v.width && g('height') > 0.02 * v.height) {
          plot.setAttribute('viewBox', `${g('x')} ${g('y')} ${g('width')} ${g('height')}`);
          extra.forEach(x => x.classList.add('hidden'));
          relabel(plot);
        }
        frame.remove();
      }
      from = frame = null;
    });
    plot.addEventListener('dblclick', () => {
      plot.setAttribute('viewBox', whole);
      kept.forEach(([g, nodes]) => g.replaceChildren(...nodes));
      extra.forEach(x => x.classList.remove('hidden'));
    });
  });
  all(document, 'figure').filter(f => f.querySelector('[data-zoom]')).forEach(f => {
    const hint = document.createElement('div');
    hint.className = 'hint quiet';
    hint.textContent = 'Drag to enlarge a part, double-click to see all.';
    f.append(hint);
  });

  // What is copied, and sections that are folded or in another tab.
  const copy = (button, text) => {
    const not = () => { button.textContent = 'Not allowed here'; };
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => { button.textContent = 'Copied'; }, not);
    else not();
  };
  all(document, '.copied').forEach(box => {
    const b = document.createElement('button');
    b.type = 'button';
    b.textContent = 'Copy';
    b.addEventListener('click', () => copy(b, box.querySelector('pre').textContent));
    box.append(b);
  });
  const tabs = all(document, 'nav .tab');
  const choose = name => {
    tabs.forEach(t => t.setAttribute('aria-pressed', t.dataset.tab === name));
    all(document, '[data-tab]:not(.tab)').forEach(e => e.classList.toggle('elsewhere', e.dataset.tab !== name));
  };
  tabs.forEach(t => {
    t.hidden = false;
    t.addEventListener('click', () => choose(t.dataset.tab));
  });
  if (tabs.length) choose(tabs[0].dataset.tab);
  const reveal = () => {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch { /* as it is */ }
    const to = [...document.querySelectorAll('section[id]')].find(s => s.id === id);
    if (!to) return;
    if (to.classList.contains('elsewhere')) choose(to.dataset.tab);
    const fold = to.querySelector(':scope > details');
    if (fold) fold.open = true;
    to.scrollIntoView();
  };
  addEventListener('hashchange', reveal);
  // Also when the address has the name already.
  all(document, 'a[href^="#"]').forEach(a => a.addEventListener('click', () => setTimeout(reveal)));
  reveal();

  // Tables: sort, filter, fold, copy, open long cells.
  const FOLD = 15;
  all(document, 'table').forEach(table => {
    const body = table.tBodies[0], rows = () => [...body.rows];
    const mark = () => rows().filter(r => !r.classList.contains('out')).forEach((r, i) => r.classList.toggle('beyond', i >= FOLD));
    all(table, 'button.sort').forEach(button => button.addEventListener('click', () => {
      const th = button.parentElement, column = [...th.parentElement.children].indexOf(th);
      const up = th.getAttribute('aria-sort') !== 'ascending';
      all(th.parentElement, 'th').forEach(t => t.removeAttribute('aria-sort'));
      th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const key = row => row.children[column].dataset.value;
      rows().sort((a, b) => {
        const x = key(a), y = key(b), n = Number(x) - Number(y);
        // What has no value comes last in both orders.
        if (!x || !y) return !x - !y;
        return (Number.isNaN(n) ? x.localeCompare(y) : n) * (up ? 1 : -1);
      }).forEach(row => body.appendChild(row));
      mark();
    }));
    table.addEventListener('click', e => e.target.closest('td.long')?.classList.toggle('open'));
    if (rows().length < 2) return;
    const tools = document.createElement('div');
    tools.className = 'tools';
    const button = (text, act) => {
      const b = document.createElement('button');
      b.type = 'button';
      b.textContent = text;
      b.addEventListener('click', () => act(b));
      tools.append(b);
    };
    if (rows().length > FOLD) {
      const n = rows().length;
      table.classList.add('folded');
      mark();
      button(`Show all ${n} rows`, b => {
        b.textContent = table.classList.toggle('folded') ? `Show all ${n} rows` : `Show ${FOLD} rows`;
      });
      const find = document.createElement('input');
      find.type = 'search';
      find.placeholder = 'Filter rows';
      find.setAttribute('aria-label', 'Filter rows');
      find.addEventListener('input', () => {
        const words = find.value.toLowerCase().split(/\s+/);
        rows().forEach(r => r.classList.toggle('out', !words.every(w => r.textContent.toLowerCase().includes(w))));
        mark();
      });
      tools.append(find);
    }
    button('Copy as CSV', b => {
      const quote = t => /[",\n]/.test(t) ? '"' + t.replaceAll('"', '""') + '"' : t;
      const lines = all(table, 'tr').map(r => [...r.cells].map(c => quote(c.textContent.trim())).join(','));
      copy(b, lines.join('\n') + '\n');
    });
    table.closest('.scroll').before(tools);
  });
})();
