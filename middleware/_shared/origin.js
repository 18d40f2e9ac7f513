'use strict'

const stateless = require('./stateless')
const { given } = require('./usage-error')
const { Rule, fn, none } = require('../../lib/shared/options')

const exact = new Rule("an origin such as 'https://example.com'", value => typeof value === 'string', refuseText)
const pattern = new Rule('a RegExp', value => value instanceof RegExp, refusePattern)
const one = exact.or(pattern)
const several = new Rule('an array of them', Array.isArray, (values, path) =>
  values.map((value, i) => one.refusal(value, `${path}[${i}]`)).find(Boolean))
// '*' and, as in @koa/cors, '' are any origin
const any = new Rule("'*'", value => value === '*' || value === '')

/** What options.origin must be. */
exports.ORIGIN = any.or(one).or(several).or(fn).or(none)

/** An array of origins and RegExps. */
exports.SEVERAL = several

/**
 * A function that chooses the origin of a request, if it is one of these.
 *
 *    const choose = oneOf(['https://a.example', /^https:\/\/\w+\.b\.example$/])
 *    choose(ctx)   // 'https://a.example', or ''
 *
 * A RegExp must match the whole origin: also `^a|b$`, which does not say so. `Origin: null`, which any page can send
 * from a sandbox, matches none.
 *
 * @param {RegExp | (string | RegExp)[]} origins
 * @return {Function} (ctx) => String
 */
exports.oneOf = function (origins) {
  const all = [].concat(origins)
  const known = new Set(all.filter(origin => typeof origin === 'string'))
  const patterns = all.filter(origin => !known.has(origin)).map(stateless)
    .map(({ source, flags }) => new RegExp(`^(?:${source})$`, flags))

  return function choose (ctx) {
    const origin = ctx.get('Origin')
    const isChosen = known.has(origin) || (origin !== 'null' && patterns.some(pattern => pattern.test(origin)))
    return isChosen ? origin : ''
  }
}

function refuseText (value, path) {
  const meant = originOf(value)
  if (meant === value && !value.includes('*')) return
  const must = `${path} must be an origin as browsers send it, such as 'https://example.com'`
  if (value === 'null') return `${must}: any page can send 'null' from a sandbox; if you mean that, return it in a function`
  if (value.includes('*')) return `${must}: for several write a RegExp, such as /^https:\\/\\/\\w+\\.example\\.com$/`
  if (/[,\s]/.test(value.trim())) return `${must}: write several as an array`
  return meant === undefined ? `${must}, not ${given(value)}` : `${must}: write '${meant}'`
}

function refusePattern ({ source }, path) {
  if (source.startsWith('^') && source.endsWith('$') && !source.endsWith('\\$')) return
  return `${path} must begin with ^ and end with $: else it matches a part of an origin, as of 'https://example.com.evil.example'`
}

/** The scheme, host and port of a URL, or of a host without a scheme, as a browser sends them. */
function originOf (text) {
  const [, scheme, host] = /^([a-z][a-z\d+.-]*):\/\/([^\s/?#@\\]+)/i.exec(text) ?? []
  // of other schemes, such as those of browser extensions, URL knows no origin
  if (scheme !== undefined && !/^https?$/i.test(scheme)) return `${scheme.toLowerCase()}://${host}`
  try {
    const { origin } = new URL(text.includes('://') || /^https?:/i.test(text) ? text : `https://${text.replace(/^\/+/, '')}`)
    return origin === 'null' ? undefined : origin
  } catch {
    return undefined
  }
}
