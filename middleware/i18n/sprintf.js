'use strict'

const PLACEHOLDER = /%(?:([1-9]\d*)\$|\((\w+)\))?(?:\.(\d{1,2}))?([sdifj%])/g

/**
 * The part of sprintf that catalogues use: %s %d %i %f %j %%, %2$s, %(name)s and %.2f. What is
 * none of it stays as it is, so "100 % sure" is text.
 */
module.exports = function sprintf (format, args) {
  if (typeof format !== 'string' || !format.includes('%')) return format
  let next = 0
  return format.replace(PLACEHOLDER, (match, position, name, precision, type) => {
    if (type === '%') return '%'
    const value = name ? args[0]?.[name] : args[position ? position - 1 : next++]
    switch (type) {
      case 'd':
      case 'i': return Number.isNaN(parseInt(value, 10)) ? value : parseInt(value, 10)
      case 'f': return precision ? Number(value).toFixed(precision) : parseFloat(value)
      case 'j': return JSON.stringify(value)
      default: return precision ? String(value).slice(0, precision) : value
    }
  })
}
