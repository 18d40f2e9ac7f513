'use strict'

/** Is it, or begins it with, the path of a file that belongs to another package than kone? */
module.exports = text => /node_modules\//.test(text) && !/node_modules\/kone\//.test(text)
