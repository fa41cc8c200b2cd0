// Names what the theme leaves without a name to screen readers, and lets the keyboard scroll what
// is wider than its box.
"use strict";

function amend() {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search");
  for (const buttons of document.querySelectorAll(".md-code__nav")) {
    buttons.setAttribute("role", "none");
  }
  for (const [i, list] of document.querySelectorAll(".md-nav .md-nav").entries()) {
    list.removeAttribute("aria-labelledby");
    list.setAttribute("aria-label", `Pages ${i + 1}`);
  }
  for (const box of document.querySelectorAll("pre > code, .md-typeset__scrollwrap")) {
    if (box.scrollWidth > box.clientWidth) {
      box.tabIndex = 0;
    }
  }
}

document.addEventListener("DOMContentLoaded", () => {
  amend();
  new MutationObserver(amend).observe(document.body, { childList: true, subtree: true });
  addEventListener("resize", amend);
});
