// Sends the choice of an assignment to the learning platform, as its button does without JavaScript.
document.querySelector("form[data-send]")?.requestSubmit();
