'use strict'

const WIDTH = 118
const MOST = 4 // middleware before the last function whose types are added

/** What a route begins with, and how many middleware behind it are typed one by one. */
const BEGINNINGS = [
  [['path: P | P[]'], MOST],
  [['name: string | symbol', 'path: P | P[]'], MOST - 1],
  [['path: P | P[]', 'operation: Operation'], MOST],
  [['name: string | symbol', 'path: P | P[]', 'operation: Operation'], -1]
]

/**
 * The text of `middleware/router/verb.d.ts`: `router.get()` and the others, for every beginning of a route and every
 * number of middleware. One generic signature, of a tuple that begins with one of these, costs a router of fifty routes
 * 23 % more instantiations: test/types/cost.long.measure.test.js.
 *
 * @return {string}
 */
module.exports = () => `import Kone = require('../../lib/index')
import Router = require('./index')
import Added = Router.Added
import OfPath = Router.OfPath
import Operation = Router.Operation
import Path = Router.Path
import Route = Router.Route
import Sent = Router.Sent

// Made by \`make index\` from tools/router-verbs.js.

/**
 * \`router.get()\` and the others. A middleware before the last function adds to the state and the
 * context of those behind it; the last function is given what is there, and cannot ask for more. Its body
 * is what validate() has schemas for.
 */
export interface Verb<MethodT extends string, StateT, ContextT, PrefixT extends string, SyntaxT extends 6 | 8> {
${BEGINNINGS.flatMap(([beginning, most]) => Array.from({ length: most + 1 }, (_, count) => typed(beginning, count))).join('')}\
  // more of them: typed by the path and the router alone
${BEGINNINGS.map(([beginning]) => rest(beginning)).join('')}\
  // router[method](), one of several methods: TypeScript calls only what is the same for all
${BEGINNINGS.map(([beginning]) => rest(beginning, 'R')).join('')}}
`

/** `count` middleware and a last function. */
function typed (beginning, count) {
  const numbers = Array.from({ length: count }, (_, i) => i + 1)
  const generics = numbers.map(n => `S${n} = {}, C${n} = {}`)
  const middleware = numbers.map(n => `m${n}: ${handler(n, ` & S${n}`, ` & C${n}`)}`)
  return signature(generics, [...beginning, ...middleware, `handler: ${handler(count + 1, '', '', `, ${sent(count)}`)}`], count + 1)
}

function rest (beginning, returned) {
  // an array may be spread; without any, the path is refused
  const given = beginning.map(one => one.replace(/^path: (.*)$/, 'path: ManyT extends [] ? never : $1'))
  return signature([`ManyT extends Array<${handler(1)}>`], [...given, '...middleware: ManyT'], 1, returned)
}

function signature (generics, parameters, last, returned = `R & Route<MethodT, PrefixT, P, ${contextOf(last)}>`) {
  const types = ['P extends Path', ...generics, 'R = Router<StateT, ContextT, PrefixT, SyntaxT>'].join(', ')
  return `  ${wrapped(`<${types}> (`, '  ')}
    this: R,
${parameters.map(one => `    ${wrapped(one, '    ')}`).join(',\n')}
  ): ${wrapped(returned, '  ')}
`
}

/** The type of the function at place `n`: it has what those before it have added. */
function handler (n, ownState = '', ownContext = '', body = '') {
  return `Kone.Middleware<${added('StateT', 'S', n)}${ownState}, ${contextOf(n)}${ownContext}${body}>`
}

/** The type of the last function's body: what `count` middleware before it and the router's have schemas for. */
function sent (count) {
  return `Sent<${added('ContextT', 'C', count + 1)}>`
}

function contextOf (n) {
  return added('ContextT & OfPath<PrefixT, P, SyntaxT>', 'C', n)
}

function added (base, letter, n) {
  return base + Array.from({ length: n - 1 }, (_, i) => ` & Added<${letter}${i + 1}>`).join('')
}

/** A text of type arguments, a line for each if they are too long for one. */
function wrapped (text, indent) {
  if (indent.length + text.length < WIDTH) return text
  const [from, to] = [text.indexOf('<') + 1, text.lastIndexOf('>')]
  let depth = 0
  const parts = text.slice(from, to).replace(/[<>]|, /g, one => {
    if (one !== ', ') depth += one === '<' ? 1 : -1
    return one === ', ' && depth === 0 ? '\n' : one
  }).split('\n')
  return `${text.slice(0, from)}\n${parts.map(part => `${indent}  ${part}`).join(',\n')}\n${indent}${text.slice(to)}`
}
