'use strict'

/*
 * The messages in source files, for the tests that go through every error that a user can see: each message has to be
 * one that such a test has printed, or is listed there with the reason why not.
 */

const fs = require('node:fs')
const path = require('node:path')
const { parse } = require('acorn')
const { full } = require('acorn-walk')

const ROOT = path.join(__dirname, '../..')

/**
 * The `.js` files of a folder of this checkout, or the one file.
 *
 *    filesOf('cluster') // ['cluster/command.js', …]
 *
 * @param {string} name
 * @return {string[]}
 */
exports.filesOf = function (name) {
  if (name.endsWith('.js')) return [name]
  return fs.readdirSync(path.join(ROOT, name), { recursive: true })
    .filter(file => file.endsWith('.js') && !file.includes('node_modules'))
    .map(file => path.join(name, file))
}

/**
 * The message of each `new Error()`, `new TypeError()` and so on of a source text.
 *
 *    messagesOf("throw new Error('gone')") // [{ text: "'gone'", longest: 'gone', line: 1 }]
 *
 * @param {string} source
 * @param {string[]} [callees] what else makes an error of its first argument
 * @return {{ text: string, longest: string, line: number }[]} text: as in the source; longest: its longest part that
 *   does not depend on a value
 */
const messagesOf = exports.messagesOf = function (source, callees = []) {
  const found = []
  full(parse(source, { ecmaVersion: 'latest', locations: true, allowHashBang: true }), node => {
    const name = node.callee?.name ?? ''
    const isError = node.type === 'NewExpression' && /^(?:Type|Range|Syntax)?Error$/.test(name)
    if (!isError && !callees.includes(name)) return
    const [message] = node.arguments
    if (!message) return
    const text = source.slice(message.start, message.end)
    found.push({ text, longest: longestOf(message), line: node.loc.start.line })
  })
  return found
}

/**
 * Each message of the files that was neither printed nor listed, with its place.
 *
 *    unseen(filesOf('cluster'), printed, { 'it is being stopped': 'a race' }) // ['cluster/node.js:163 it is …']
 *
 * @param {string[]} files of this checkout
 * @param {string} printed everything that the test has printed
 * @param {{ [part: string]: string }} exceptions part of the source text of a message, or the
 *   name of the variable that is the message → the reason
 * @param {string[]} [callees] what makes an error of its first argument, besides `new Error()` and its kind
 * @return {string[]} also a line for each exception that no message has any more
 */
exports.unseen = function (files, printed, exceptions, callees = []) {
  const unused = new Set(Object.keys(exceptions))
  const found = []
  for (const file of files) {
    for (const { text, longest, line } of messagesOf(fs.readFileSync(path.join(ROOT, file), 'utf8'), callees)) {
      const exception = Object.keys(exceptions).find(part => /^\w+$/.test(part) ? text === part : text.includes(part))
      if (exception) unused.delete(exception)
      else if (longest === '' || !printed.includes(longest)) found.push(`${file}:${line} ${text}`)
    }
  }
  return [...found, ...[...unused].map(part => `no message has ${part}`)]
}

function longestOf (message) {
  let longest = ''
  full(message, ({ type, value }) => {
    const text = type === 'TemplateElement' ? value.cooked : type === 'Literal' && typeof value === 'string' ? value : ''
    if (text.length > longest.length) longest = text
  })
  return longest
}
