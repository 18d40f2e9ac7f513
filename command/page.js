'use strict'

/** The end of a message: where to read on. */
module.exports = ' (kone/docs/api/command.md)'
