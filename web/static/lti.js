// Without JavaScript a button sends it.
document.querySelector("form[data-send]")?.requestSubmit();
