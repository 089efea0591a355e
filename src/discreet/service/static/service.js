// Small things that HTML cannot do alone: a slider beside a number. No value leaves the page.
document.addEventListener("input", (event) => {
  const from = event.target, to = from.dataset && from.dataset.mirrors;
  if (to) document.getElementById(to).value = from.value;
  if (from.id) for (const slider of document.querySelectorAll(`[data-mirrors="${from.id}"]`)) slider.value = from.value;
});
