// Sections as the library writes them: a key, a title, a note, names of columns, rows of cells.

/** Rows as objects by the names of the columns. */
export const records = (part) => part.rows.map((row) => Object.fromEntries(part.columns.map((name, c) => [name, row[c]])));

export const has = (part, column) => part.columns.includes(column);

/** Values of a column in order of appearance, each once. */
export const distinct = (rows, column) => [...new Set(rows.map((row) => row[column]))];

/** A stop at its end. */
export const stopped = (text) => (!text || /[.!?]$/.test(text) ? text ?? "" : `${text}.`);

/** A sentence: also a capital at its beginning. Not for texts that may begin with a name. */
export const sentence = (text) => (text ? stopped(text[0].toUpperCase() + text.slice(1)) : "");
