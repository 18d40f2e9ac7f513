'use strict'

const vm = require('node:vm')

/**
 * A block of JavaScript of a page, completed to a program that runs by itself: an ES module, unless the block calls
 * `require`. The copy button of the site copies it, and test/docs/pages.test.js runs it.
 *
 *    program('ctx.body = 1', [{ method: 'GET', target: '/', headers: {} }])
 *    // import Kone from 'kone'
 *    //
 *    // const app = new Kone()
 *    //
 *    // app.use(async (ctx, next) => {
 *    //   ctx.body = 1
 *    // })
 *    //
 *    // app.listen(3000)
 *    // curl -i 'http://localhost:3000/'
 *
 * - Code that uses `ctx` outside of any function becomes a middleware.
 * - `app` and `Kone` are declared where the block does not do it.
 * - An app that is requested listens on port 3000.
 * - In CommonJS, `await` outside of any function gets one around it.
 *
 * @param {string} code
 * @param {{ method: string, target: string, headers: object, body?: string }[]} [requests] that the page sends to it
 * @return {{ text: string, completed: boolean, isModule: boolean }} `completed`: something that is not in the block was
 *   added
 */
exports.program = function (code, requests = []) {
  const isModule = !isCommonJS(code)
  const { imports, rest } = split(code.trimEnd())
  let body = rest

  if (isHandler(code)) body = `app.use(async (ctx, next) => {\n${indent(body)}\n})`
  const usesApp = /\bapp\b/.test(body)
  const needsApp = usesApp && !declares(code, 'app')
  const needsKone = (needsApp || /\bKone\b/.test(body)) && !declares(code, 'Kone')
  const head = [...needsKone ? [isModule ? "import Kone from 'kone'" : "const Kone = require('kone')"] : [], ...imports]
  if (needsApp) body = `const app = new Kone()\n\n${body}`

  const serves = requests.length > 0 && usesApp && !/\.listen\(/.test(body)
  if (serves) body += '\n\napp.listen(3000)'
  if (!isModule && !compiles(body)) body = `async function main () {\n${indent(body)}\n}\n\nmain()`
  for (const request of requests) body += `\n// ${curl(request)}`

  const text = `${head.join('\n')}${head.length > 0 ? '\n\n' : ''}${body}\n`
  return { text, completed: isHandler(code) || needsApp || needsKone, isModule }
}

const isCommonJS = code => /\brequire\(|\bmodule\.exports\b|\b__dirname\b/.test(code.replaceAll(/\/\/ .*$/gm, ''))

// The lines of imports at its top, and what follows.
function split (code) {
  const [imports] = /^(?:import .+\n+)*/.exec(`${code}\n`)
  return { imports: imports.split('\n').filter(Boolean), rest: code.slice(imports.length) }
}

/**
 * The block in CommonJS, or null for one that imports nothing.
 *
 *    commonJS("import Kone, { compose as chain } from 'kone'")
 *    // const Kone = require('kone')
 *    // const { compose: chain } = Kone
 *
 * @param {string} code
 * @return {string|null}
 */
exports.commonJS = function (code) {
  if (!/^import /m.test(code)) return null
  return code
    .replace(/^import (\w+)(?:, \{ (.+) \})? from ('[^']+')/gm, (all, name, names, from) =>
      `const ${name} = require(${from})${names ? `\nconst { ${renamed(names)} } = ${name}` : ''}`)
    .replace(/^import \{ (.+) \} from ('[^']+')/gm, (all, names, from) => `const { ${renamed(names)} } = require(${from})`)
    .replace(/^export default /gm, 'module.exports = ')
    .replaceAll('import.meta.dirname', '__dirname')
}

const renamed = names => names.replaceAll(' as ', ': ')

// It uses `ctx`, which is no parameter of a function in it.
function isHandler (code) {
  const text = code.replaceAll(/\/\/ .*$/gm, '')
  return /\bctx\b/.test(text) && !/\(ctx[,)]|\bctx =>|, ctx\)/.test(text)
}
exports.isHandler = isHandler

const declares = (code, name) =>
  new RegExp(`(?:const|let|class|function|import) (?:${name}\\b|(?:\\w+, )?\\{[^}]*\\b${name}\\b[^}]*\\})`).test(code)

const indent = code => code.replaceAll(/^(?=.)/gm, '  ')

function compiles (code) {
  try {
    return Boolean(new vm.Script(`(function () {${code}\n})`))
  } catch {
    return false
  }
}

function curl ({ method, target, headers, body }) {
  const flags = Object.entries(headers).map(([name, value]) => ` -H ${quote(`${name}: ${value}`)}`)
  if (method === 'HEAD') flags.push(' -I')
  else if (method !== (body === undefined ? 'GET' : 'POST')) flags.unshift(` -X ${method}`)
  if (body !== undefined) flags.push(` -d ${quote(body)}`)
  return `curl -i${flags.join('')} ${quote(`http://localhost:3000${target}`)}`
}

const quote = text => `'${text.replaceAll("'", "'\\''").replaceAll('\n', ' ')}'`
