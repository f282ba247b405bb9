'use strict';
(() => {
  const tip = document.getElementById('tip');
  const show = (el, x, y) => {
    tip.textContent = el.dataset.tip;
    tip.hidden = false;
    const w = tip.offsetWidth, h = tip.offsetHeight;
    tip.style.left = Math.max(4, Math.min(x + 12, innerWidth - w - 4)) + 'px';
    tip.style.top = (y + h + 22 > innerHeight ? y - h - 8 : y + 14) + 'px';
  };
  const target = e => e.target.closest && e.target.closest('[data-tip]');
  document.addEventListener('pointermove', e => {
    const el = target(e);
    if (el) show(el, e.clientX, e.clientY); else tip.hidden = true;
  });
  document.addEventListener('focusin', e => {
    const el = target(e);
    if (!el) return;
    const r = el.getBoundingClientRect();
    show(el, r.right, r.bottom);
  });
  document.addEventListener('focusout', () => { tip.hidden = true; });

  document.querySelectorAll('.legend button').forEach(button => {
    button.addEventListener('click', () => {
      const on = button.getAttribute('aria-pressed') !== 'true';
      button.setAttribute('aria-pressed', on);
      const section = button.closest('section');
      section.querySelectorAll('.series.' + button.dataset.series).forEach(g => {
        g.style.display = on ? '' : 'none';
      });
    });
  });

  document.querySelectorAll('button.sort').forEach(button => {
    button.addEventListener('click', () => {
      const th = button.parentElement, table = th.closest('table');
      const column = [...th.parentElement.children].indexOf(th);
      const up = th.getAttribute('aria-sort') !== 'ascending';
      th.parentElement.querySelectorAll('th').forEach(t => t.removeAttribute('aria-sort'));
      th.setAttribute('aria-sort', up ? 'ascending' : 'descending');
      const key = row => row.children[column].dataset.value;
      const body = table.tBodies[0];
      [...body.rows].sort((a, b) => {
        const x = key(a), y = key(b), n = Number(x) - Number(y);
        return (Number.isNaN(n) ? x.localeCompare(y) : n) * (up ? 1 : -1);
      }).forEach(row => body.appendChild(row));
    });
  });
})();
