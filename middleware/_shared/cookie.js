'use strict'

const Cookies = require('cookies')

const readers = new Map()

/**
 * Make a function that reads one cookie of a request, like `ctx.cookies.get(name)`, which would make an
 * object of all header fields first. If an app replaces `ctx.cookies`, that is used.
 *
 *    const theme = cookieReader('theme')
 *    theme(ctx) // 'dark', or undefined
 *
 * @param {string} name
 * @return {Function} (ctx) => String|undefined
 * @api private
 */
module.exports = function cookieReader (name) {
  let reader = readers.get(name)
  if (reader === undefined) readers.set(name, reader = make(name)) // names come from the program
  return reader
}

function make (name) {
  const literal = name.replace(/[-[\]{}()*+?.,\\^$|#\s]/g, '\\$&')
  const pattern = new RegExp(`(?:^|;) *${literal}=([^;]*)`)

  return function readCookie (ctx) {
    const header = ctx.get('cookie')
    if (header === '') return undefined
    if (ctx.cookies.get !== Cookies.prototype.get) return ctx.cookies.get(name)

    const found = pattern.exec(header)
    if (found === null) return undefined
    const [, value] = found
    return value[0] === '"' ? value.slice(1, -1) : value
  }
}
