'use strict'

const fs = require('node:fs')
const path = require('node:path')
const acorn = require('acorn')
const walk = require('acorn-walk')

const ROOT = path.join(__dirname, '..', '..', '..')
const FIELD_NAME = /^:?[a-z][a-z\d]*(?:-[a-z\d]+)*$/i
const RESPONSES = /^(?:response|res|outgoing|reply)$/

// `headers.push` is no field.
const METHODS = new Set([String, Array, Headers, Map].flatMap(({ prototype }) => Object.getOwnPropertyNames(prototype)))

/**
 * The names of request headers that a source text reads: `ctx.get('Range')`, `headers['if-range']`, `req.headers.host`, and
 * `ctx.get(NAME)` with `const NAME = 'Range'` or a default `{ NAME = 'Range' }` in the same file.
 */
exports.namesIn = function (source) {
  const tree = parse(source)
  const strings = stringsOf(tree)
  const names = new Set()
  const note = name => {
    if (typeof name === 'string' && FIELD_NAME.test(name)) names.add(name.toLowerCase())
  }
  const noteAll = node => {
    if (node?.type === 'Literal') note(node.value)
    if (node?.type === 'Identifier') strings.get(node.name)?.forEach(note)
  }

  walk.simple(tree, {
    CallExpression ({ callee, arguments: [first] }) {
      if (callee.type !== 'MemberExpression' || callee.property.name !== 'get') return
      if (!RESPONSES.test(nameOf(callee.object))) noteAll(first)
    },
    MemberExpression ({ object, property, computed }) {
      const name = nameOf(object)
      if ((name !== 'headers' && name !== 'header') || isOfResponse(object)) return
      if (computed) noteAll(property)
      else if (name === 'headers' && !METHODS.has(property.name)) note(property.name)
    }
  })
  return names
}

/** name of a variable → the strings that it is initialised with, anywhere in the file */
function stringsOf (tree) {
  const strings = new Map()
  const note = (target, value) => {
    if (target.type !== 'Identifier') return
    const found = value?.type === 'ArrayExpression' ? value.elements : [value]
    const texts = found.filter(node => typeof node?.value === 'string').map(node => node.value)
    if (texts.length > 0) strings.set(target.name, [...strings.get(target.name) ?? [], ...texts])
  }
  walk.simple(tree, {
    VariableDeclarator: ({ id, init }) => note(id, init),
    AssignmentPattern: ({ left, right }) => note(left, right),
    ForOfStatement: ({ left, right }) => {
      if (left.type === 'VariableDeclaration') note(left.declarations[0].id, right)
    }
  })
  return strings
}

/** The files of lib and middleware. */
exports.ownFiles = function () {
  return ['lib', 'middleware'].flatMap(folder => {
    return fs.readdirSync(path.join(ROOT, folder), { recursive: true })
      .filter(name => name.endsWith('.js'))
      .map(name => path.join(ROOT, folder, name))
  })
}

/** The files of the packages that are loaded by now and that kone depends on. */
exports.loadedDependencies = function () {
  const own = new Set(exports.ownFiles())
  const reached = new Set()
  const open = Object.values(require.cache).filter(({ filename }) => own.has(filename))
  while (open.length > 0) {
    for (const child of open.pop().children) {
      if (reached.has(child.filename) || own.has(child.filename) || !child.filename.endsWith('js')) continue
      reached.add(child.filename)
      open.push(child)
    }
  }
  return [...reached]
}

function parse (source) {
  const options = { ecmaVersion: 'latest', allowReturnOutsideFunction: true, allowHashBang: true }
  try {
    return acorn.parse(source, { ...options, sourceType: 'script' })
  } catch {
    return acorn.parse(source, { ...options, sourceType: 'module' })
  }
}

function nameOf (node) {
  if (node.type === 'Identifier') return node.name
  if (node.type === 'MemberExpression' && !node.computed) return node.property.name
  return ''
}

function isOfResponse (node) {
  return node.type === 'MemberExpression' && RESPONSES.test(nameOf(node.object))
}
