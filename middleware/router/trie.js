'use strict'

const { parse } = require('path-to-regexp')
const { detach } = require('../../lib/shared/text')
const Layer = require('./layer')
const { ODD, segmentsOfEight, syntaxes } = require('./syntax')

// what path-to-regexp makes of `:name`: one segment, not empty
const SEGMENT = '[^\\/#\\?]+?'

// the key of all segments that are not a literal of any layer
const OTHER = Symbol('other')

// Routes like `/a1/:b`, `/:a/b1` by the hundred multiply; past these the walk is not remembered.
const MAX_STATES = 10_000
const MAX_PLACES = 1_000_000 // of layers, in all states

/**
 * Finds the layers of a stack that can match a path, without testing all of them.
 *
 * The trie holds the certain part of each path: literal segments and plain `:params`.
 *
 *     /users          exact of a
 *     /users/:id      exact of b        (root) ─ users a ─ * b ─ posts c
 *     /users/:id/posts(.*)
 *                     within *          c is within b, not exact: `posts(.*)` is no segment
 *
 * `exact` layers can match only a path that ends at their node, `within` layers every path that
 * goes through it. A path can be on several nodes at once (`users` and `*`), so a request walks
 * over states, sets of nodes that were worked out once: the cost is one look-up per segment,
 * whatever the number of layers. Candidates come in the order of registration. The trie only
 * leaves out layers that cannot match; the layer's own regexp decides.
 *
 * @api private
 */
class Trie {
  constructor (stack) {
    const top = new Node()
    stack.forEach((layer, place) => insert(top, layer, place))
    this.stack = stack
    this.layers = stack.slice()
    this.paths = stack.map(layer => layer.path)
    this.edition = Layer.edition
    // all have one syntax, because a router nests none of the other one
    this.isDelimiter = (stack[0]?.syntax ?? syntaxes[6]).isDelimiter
    this.root = new State([top], [], { layers: this.layers, states: MAX_STATES, places: MAX_PLACES })
  }

  /**
   * Does the trie still match the stack? Apps push to the stack, replace it and set prefixes late.
   */
  covers (stack) {
    if (this.stack !== stack || this.layers.length !== stack.length) return false
    if (this.edition === Layer.edition) return true
    this.edition = Layer.edition
    return stack.every((layer, i) => layer === this.layers[i] && layer.path === this.paths[i])
  }

  /**
   * @param {string} path
   * @return {import('./layer')[]} in order of registration
   */
  candidates (path) {
    const { isDelimiter } = this
    let state = this.root
    if (path.charCodeAt(0) !== 0x2f) return state.here

    // by a non-strict layer a trailing delimiter is ignored, by a strict one tested
    const text = path.toLowerCase()
    let end = text.length
    while (end > 0 && isDelimiter(text.charCodeAt(end - 1))) end--

    let start = 1
    for (let i = 1; i <= end; i++) {
      if (i < end && !isDelimiter(text.charCodeAt(i))) continue
      if (state.nodes.length === 0) return state.here
      state = state.enter(text.slice(start, i))
      start = i + 1
    }
    return state.here
  }
}

class Node {
  exact = []
  within = []
  literals = new Map()
  param = null

  literal (segment) {
    let node = this.literals.get(segment)
    if (node === undefined) this.literals.set(segment, node = new Node())
    return node
  }
}

class State {
  /**
   * @param {Node[]} nodes where the path so far can be
   * @param {number[]} passed places of the `within` layers of all nodes before
   * @param {{layers: Layer[], states: number, places: number}} shared by all states of a trie: what it may still keep
   */
  constructor (nodes, passed, shared) {
    const places = list => passed.concat(...nodes.map(list)).sort((a, b) => a - b)
    this.nodes = nodes
    this.within = places(node => node.within)
    this.here = places(node => node.within.concat(node.exact)).map(place => shared.layers[place])
    this.shared = shared
    this.next = new Map()
  }

  enter (segment) {
    const literal = this.next.get(segment)
    if (literal !== undefined) return literal
    // all other segments share one key: otherwise clients could fill the memory with segments
    const key = segment === '' || this.nodes.some(node => node.literals.has(segment)) ? segment : OTHER
    return this.next.get(key) ?? this.make(key, segment)
  }

  make (key, segment) {
    const { shared, nodes, within } = this
    const children = node => [node.literals.get(segment), segment === '' ? null : node.param]
    const state = new State(nodes.flatMap(children).filter(Boolean), within, shared)
    shared.states--
    shared.places -= state.within.length + state.here.length + state.nodes.length
    if (shared.states >= 0 && shared.places >= 0) this.next.set(key === OTHER ? OTHER : detach(key), state)
    return state
  }
}

function insert (top, layer, place) {
  const { segments, exact } = certain(layer)
  let node = top
  for (const segment of segments) {
    node = segment === null ? (node.param ??= new Node()) : node.literal(segment)
  }
  if (exact) node.exact.push(place)
  else node.within.push(place)
}

/**
 * The leading segments every path that this layer matches must have, a param as null;
 * `exact` when nothing can follow them.
 */
function certain ({ path, opts }) {
  if (typeof path !== 'string') return { segments: [], exact: false }
  if (opts.syntax === 8) return certainOfEight(path, opts)
  const segments = []

  const tokens = parse(path, opts)
  let at = 0
  for (; at < tokens.length; at++) {
    const token = tokens[at]
    if (typeof token !== 'string') {
      if (!isSegment(token) || !endsSegment(tokens, at + 1)) break
      segments.push(null)
    } else if (!isPlain(token) || !endsSegment(tokens, at + 1)) {
      // `/users/x(\\d+)`: `users` is certain, the segment that begins with x is not
      if (token[0] === '/') segments.push(...leading(token))
      break
    } else {
      segments.push(...token.slice(1).toLowerCase().split('/'))
    }
  }

  // an empty last segment is a trailing slash, which candidates() does not look at
  while (segments.at(-1) === '') segments.pop()
  return { segments, exact: at === tokens.length && opts.end !== false }
}

function certainOfEight (path, opts) {
  const { segments, exact } = segmentsOfEight(path)
  const odd = segments.findIndex(segment => segment !== null && !isPlain('/' + segment))
  if (odd !== -1) return { segments: segments.slice(0, odd), exact: false }
  while (segments.at(-1) === '') segments.pop()
  return { segments, exact: exact && opts.end !== false }
}

function leading (token) {
  const segments = token.slice(1).toLowerCase().split('/')
  const odd = segments.findIndex(segment => !isPlain('/' + segment))
  return segments.slice(0, odd === -1 ? -1 : odd)
}

// only what clients do not encode; above ASCII the i flag folds case by other rules than toLowerCase(), too
function isPlain (token) {
  return token[0] === '/' && token.search(ODD) === -1
}

function isSegment ({ prefix, suffix, pattern, modifier }) {
  return prefix === '/' && suffix === '' && pattern === SEGMENT && modifier === ''
}

/**
 * Is what follows the end of the path, or surely a new segment?
 */
function endsSegment (tokens, at) {
  if (at === tokens.length) return true
  const token = tokens[at]
  if (typeof token === 'string') return token[0] === '/'
  if (token.prefix[0] !== '/') return false
  return token.modifier === '' || token.modifier === '+' || endsSegment(tokens, at + 1)
}

module.exports = Trie
