// Small things that HTML cannot do alone: a slider beside a number, and tables that sort. No value leaves the page.
document.addEventListener("input", (event) => {
  const from = event.target, to = from.dataset && from.dataset.mirrors;
  if (to) document.getElementById(to).value = from.value;
  if (from.id) for (const slider of document.querySelectorAll(`[data-mirrors="${from.id}"]`)) slider.value = from.value;
});

function sortable(table) {
  table.querySelectorAll("thead th").forEach((head, place) => {
    if (head.querySelector(".sr") || head.querySelector("button")) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.textContent = head.textContent;
    head.replaceChildren(button);
    button.addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") !== "ascending";
      table.querySelectorAll("th[aria-sort]").forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0], rows = [...body.rows];
      const key = (row) => row.cells[place].textContent.trim();
      rows.sort((a, b) => (up ? 1 : -1) * key(a).localeCompare(key(b), "en", { numeric: true }));
      body.append(...rows);
    });
  });
}

document.addEventListener("DOMContentLoaded", () => document.querySelectorAll("table.sorts").forEach(sortable));
