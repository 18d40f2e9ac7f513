'use strict'

const readers = new Map()

/**
 * Make a function that reads one cookie of a request, as `ctx.cookies.get(name)` does without `signed`; that
 * would make an object of all header fields first, and a Cookies.
 *
 *    const theme = cookieReader('theme')
 *    theme(ctx.request) // 'dark', or undefined
 *
 * @param {String} name
 * @return {Function} (request) => String|undefined
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

  return function readCookie (request) {
    const header = request.get('Cookie')
    const found = header === '' ? null : pattern.exec(header)
    if (found === null) return undefined
    const [, value] = found
    return value[0] === '"' ? value.slice(1, -1) : value
  }
}
