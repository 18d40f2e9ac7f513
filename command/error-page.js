'use strict'

const fs = require('node:fs')
const { STATUS_CODES } = require('node:http')
const path = require('node:path')
const escape = require('escape-html')
const withParents = require('../cluster/parents')
const { report } = require('../lib/shared/error-path')
const { RESPONSE_TO } = require('../lib/core/errors')
const { placesOf } = require('./call-sites')

const LINES = 4 // of the source, before and after the one that threw

const handled = new WeakSet() // contexts that an app has begun with

/**
 * Respond to an error of the program with a page that shows it and where it was thrown, for a browser;
 * anybody else gets what kone responds. The first middleware of an app under `kone dev`.
 *
 * @param {string} file of the app: sources are shown from its project, and of modules that were loaded
 * @return {Function} middleware
 */
module.exports = function (file) {
  const project = fs.realpathSync(projectOf(file))

  return async function errorPage (ctx, next) {
    if (handled.has(ctx)) return next() // in a mounted app: the middleware around it come first
    handled.add(ctx)
    try {
      await next()
    } catch (err) {
      const isOfProgram = err instanceof Error && !(err.expose || (err.status || err.statusCode) < 500)
      if (!isOfProgram || ctx.headerSent || ctx.accepts('text', 'html') !== 'html') throw err
      report(ctx, err)
      for (const name of Object.keys(ctx.response.headers)) ctx.remove(name)
      ctx.status = statusOf(ctx, err)
      ctx.type = 'html'
      ctx.set('Cache-Control', 'no-store')
      ctx.body = page(ctx, err, project)
    }
  }
}

/** As without the page; a context of another copy of kone has no such method. */
function statusOf (ctx, err) {
  const { status } = ctx[RESPONSE_TO]?.(err) ?? err
  return Number.isInteger(status) && status >= 200 && STATUS_CODES[status] ? status : 500
}

/** The folder of the nearest package.json, or of the file. */
function projectOf (file) {
  const own = path.dirname(file)
  return withParents(own).find(folder => fs.existsSync(path.join(folder, 'package.json'))) ?? own
}

function page ({ method, url }, err, project) {
  const all = [err]
  while (all.at(-1).cause instanceof Error && all.length < 5) all.push(all.at(-1).cause)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escape(String(err.message))}</title>
<style>
body { font: 1rem/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 60rem; padding: 0 1rem }
body { color: #1b1f24; background: #fff }
pre { white-space: pre-wrap; overflow-wrap: anywhere; padding: 1rem; background: #f4f5f7; border-radius: 4px }
mark { background: #ffd7d5; color: inherit; display: inline-block; min-width: 100% }
@media (prefers-color-scheme: dark) {
  body { color: #e6e8eb; background: #16181c } pre { background: #23262c } mark { background: #67211f }
}
</style>
<h1>${escape(`${err.name}: ${err.message}`)}</h1>
<p>${escape(`${method} ${url}`)}
${source(err, project)}
${all.map(one => `<pre>${folded(String(one.stack || one))}</pre>`).join('\n<p>caused by\n')}
</html>
`
}

/** A stack, in which the calls between two of the project are one line that opens. */
function folded (stack) {
  const lines = stack.split('\n').map(line => ({ text: escape(line), isForeign: /^ +at .*(?:node:|[/\\]node_modules[/\\])/.test(line) }))
  let html = ''
  for (let i = 0; i < lines.length;) {
    const next = lines.findIndex((line, j) => j > i && line.isForeign !== lines[i].isForeign)
    const end = next === -1 ? lines.length : next
    const text = lines.slice(i, end).map(line => line.text).join('\n')
    const count = end - i
    html += lines[i].isForeign
      ? `<details><summary>    ${count} call${count === 1 ? '' : 's'} in packages and in node</summary>${text}</details>`
      : `${text}\n`
    i = end
  }
  return html
}

/** The lines around the first call site that is the project's own, or else in a module that was loaded. */
function source (err, project) {
  const places = placesOf(err).map(({ file, row }) => ({ file: realPath(file), row }))
    .filter(({ file }) => file !== null && !file.split(path.sep).includes('node_modules'))
  const place = places.find(({ file }) => file.startsWith(project + path.sep)) ??
    places.find(({ file }) => Object.hasOwn(require.cache, file))
  return place === undefined ? '' : excerpt(place)
}

/** A link in the project may lead out of it. */
function realPath (file) {
  try {
    return fs.realpathSync(file)
  } catch {
    return null
  }
}

function excerpt ({ file, row }) {
  let all
  try {
    all = fs.readFileSync(file, 'utf8').split('\n')
  } catch {
    return ''
  }
  const first = Math.max(0, row - 1 - LINES)
  const lines = all.slice(first, row + LINES).map((text, i) => {
    const number = first + i + 1
    const shown = escape(`${String(number).padStart(5)}  ${text}`)
    return number === row ? `<mark>${shown}</mark>` : shown
  })
  return `<p>${escape(`${file}:${row}`)}\n<pre>${lines.join('\n')}</pre>`
}
