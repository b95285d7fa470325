/* Colours of labels: bright ones, which are seen on pictures with a dark line around them. */
const COLOURS = ["#ffbf47", "#5ec8ff", "#7be495", "#ff9db8", "#cdb4ff", "#ffffff"];

/** The colour of the label with a number; -1 is no label. */
export const colour = (nth) => COLOURS[Math.max(nth, 0) % COLOURS.length];
