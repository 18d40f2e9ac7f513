'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { lookup } = require('mime-types')

const PAGE = path.join(__dirname, '../../MIGRATION.md')

/**
 * Rows of "What is different" (MIGRATION.md) that two responses show without doubt: how the row begins, the parts that
 * it explains, and whether it is this row, by the response on Koa, that on kone, and the request.
 */
const ROWS = [
  ['`throw null`, errors with', /^failure/, (koa, kone) =>
    /^(?:no response within|its process ended|the connection failed \(ECONNRESET)/.test(koa.failure) && kone.status === 500],

  ["`ctx.redirect('javascript:", /^/, (koa, kone) =>
    kone.status === 500 && /^(?:javascript|data|vbscript):/i.test(valueOf(koa, 'location'))],

  ['a Host with a character', /^/, (koa, kone, { headers }) =>
    kone.status === 400 && koa.status !== 400 && /[\s/<>\\]/.test(headerOf(headers, 'host'))],

  ['`ctx.protocol` with', /^(?:field|cookie|word|body)/, (koa, kone, { headers }) => {
    const given = headerOf(headers, 'x-forwarded-proto')
    return /[A-Z]/.test(given) && textOf(koa) !== textOf(kone) && textOf(koa).replaceAll(given, given.toLowerCase()) === textOf(kone)
  }],

  ['`ctx.body = null` with', /^(?:field (?:content-length|connection|keep-alive)|end|order)/, (koa, kone) =>
    koa.size === 0 && kone.size === 0 && valueOf(koa, 'content-length') === '' && valueOf(kone, 'content-length') === '0'],

  ['a wrong `Content-Length`', /^(?:end|failure|word|body|field content-length|field transfer-encoding|order)/, (koa, kone) =>
    kone.end === 'complete' && (/HPE_/.test(koa.failure) || hasWrongLength(koa, kone))],

  ['a stream that is longer than', /^end/, (koa, kone) => isTooLong(koa) && koa.hash === kone.hash],

  ['`ctx.attachment(', /^field content-type/, (koa, kone) => {
    const [, file] = /filename="?([^";]+)/.exec(valueOf(koa, 'content-disposition')) ?? []
    const [one, other] = [koa, kone].map(response => valueOf(response, 'content-type').split(';')[0])
    return file !== undefined && one !== other && lookup(file) === one
  }]
]

const isTooLong = ({ end }) => end !== undefined && end.endsWith('bytes of no response')

function hasWrongLength (koa, kone) {
  if (koa.body === undefined || !kone.body.subarray(0, koa.body.length).equals(koa.body)) return false
  const [given, right] = [koa, kone].map(response => Number(valueOf(response, 'content-length')))
  return given !== right && right === kone.size && (isTooLong(koa) || (/^(?:open|cut)$/.test(koa.end) && given > koa.size))
}

const headerOf = (headers, wanted) => Object.entries(headers).find(([name]) => name.toLowerCase() === wanted)?.[1] ?? ''
const valueOf = ({ fields = [] }, wanted) => headerOf(Object.fromEntries(fields), wanted)
const textOf = ({ fields = [], body }) => `${fields.filter(([name]) => name !== 'Date').join('\n')}\n${body}`

/**
 * @param {string} key of the part that differs
 * @return {string|null} the row of the page that explains why kone responds otherwise
 */
exports.whyOf = function (key, koa, kone, request) {
  const [start] = ROWS.find(([, keys, is]) => keys.test(key) && is(koa, kone, request)) ?? []
  return start === undefined ? null : sentenceOf(start)
}

function sentenceOf (start) {
  const row = fs.readFileSync(PAGE, 'utf8').split('\n').find(line => line.startsWith(`| ${start}`))
  const [, what, koa, kone] = row.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').split(/ ?\| ?/)
  return `${what}: on Koa ${koa}; on kone ${kone} (kone/MIGRATION.md)`
}
