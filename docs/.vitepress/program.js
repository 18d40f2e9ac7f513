'use strict'

const vm = require('node:vm')

/**
 * A block of JavaScript of a page, completed to a program that runs by itself. The copy button of the site copies it,
 * and test/docs/pages.test.js runs it.
 *
 *    program('ctx.body = 1', ['GET /'])
 *    // const Kone = require('kone')
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
 * - `await` outside of any function needs one around it, because the file is CommonJS.
 *
 * @param {string} code
 * @param {{ method: string, target: string, headers: object, body?: string }[]} [requests] that the page sends to it
 * @return {{ text: string, completed: boolean }} `completed`: something that is not in the block was added
 */
exports.program = function (code, requests = []) {
  const isModule = /^import /m.test(code)
  const head = []
  let body = code.trimEnd()

  if (isHandler(code)) body = `app.use(async (ctx, next) => {\n${indent(body)}\n})`
  const usesApp = /\bapp\b/.test(body)
  const ownApp = declares(body, 'app')
  const needsApp = usesApp && !ownApp
  const needsKone = (needsApp || /\bKone\b/.test(body)) && !declares(body, 'Kone')
  if (needsKone) head.push(isModule ? "import Kone from 'kone'" : "const Kone = require('kone')")
  if (needsApp) head.push('const app = new Kone()')

  const serves = requests.length > 0 && usesApp && !/\.listen\(/.test(body)
  if (serves) body += '\n\napp.listen(3000)'
  if (!isModule && !compiles(body)) body = `async function main () {\n${indent(body)}\n}\n\nmain()`
  for (const request of requests) body += `\n// ${curl(request)}`

  const text = `${head.join('\n')}${head.length > 0 ? '\n\n' : ''}${body}\n`
  return { text, completed: isHandler(code) || needsApp || needsKone }
}

// It uses `ctx`, which is no parameter of a function in it.
function isHandler (code) {
  const text = code.replaceAll(/\/\/ .*$/gm, '')
  return /\bctx\b/.test(text) && !/\(ctx[,)]|\bctx =>|, ctx\)/.test(text)
}
exports.isHandler = isHandler

const declares = (code, name) =>
  new RegExp(`(?:const|let|class|function|import) (?:${name}\\b|\\{[^}]*\\b${name}\\b[^}]*\\})`).test(code)

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
