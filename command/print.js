'use strict'

const { escapeControls } = require('../middleware/_shared/escape')

/**
 * Print lines for people. Names and versions come from files of a stranger, and the escape sequences in them would
 * write to the terminal what its owner takes for the command's own words.
 *
 * @param {string[]} lines
 */
exports.print = (lines, stream = process.stdout) => {
  for (const line of lines) stream.write(`${escapeControls(line)}\n`)
}

/**
 * Print JSON for programs, with all control characters escaped: JSON.stringify leaves DEL and C1.
 *
 * @param {*} value
 */
exports.printJSON = value => {
  console.log(JSON.stringify(value, null, 2).replace(/[\x7f-\x9f]/g, char => `\\u00${char.charCodeAt(0).toString(16)}`))
}

/** End the process once everything is written: a pipe does not take a long text at once. */
exports.end = () => process.stdout.write('', () => process.exit(0))
