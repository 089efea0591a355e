// Small things that HTML cannot do alone: a slider beside a number. No value leaves the page.
// The slider goes from data-low to data-high in equal steps of ratio, and ends at data-high exactly.
const place = (slider, value) => {
  const low = Number(slider.dataset.low), high = Number(slider.dataset.high);
  return 1000 * Math.log(Math.min(Math.max(value, low), high) / low) / Math.log(high / low);
};
const show = (slider, value) => {
  slider.value = place(slider, Number(value) || 0);
  slider.setAttribute("aria-valuetext", `epsilon ${value}`);
};
const sliders = (id) => document.querySelectorAll(`[data-mirrors="${id}"]`);
document.addEventListener("input", (event) => {
  const from = event.target, to = from.dataset && from.dataset.mirrors;
  if (to) {
    const low = Number(from.dataset.low), high = Number(from.dataset.high), at = Number(from.value) / 1000;
    const value = at < 1 ? Number((low * Math.pow(high / low, at)).toPrecision(2)) : high;
    document.getElementById(to).value = Math.min(value, high);
    from.setAttribute("aria-valuetext", `epsilon ${Math.min(value, high)}`);
  } else if (from.id) for (const slider of sliders(from.id)) show(slider, from.value);
});
for (const slider of document.querySelectorAll("[data-mirrors]")) show(slider, document.getElementById(slider.dataset.mirrors).value);
