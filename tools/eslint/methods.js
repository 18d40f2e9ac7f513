'use strict'

const { isBuiltin } = require('node:module')
const path = require('node:path')
const replaced = require('./replaced')

const ROOT = path.join(__dirname, '../..')

/** Methods of node's streams, emitters and messages that node, or who has the object, calls by name. */
const PUBLIC = ['write', 'end', 'push', 'unshift', 'read', 'pipe', 'pause', 'resume', 'destroy', 'emit', 'on', 'setEncoding']

/** What node documents for classes alone. */
const OF_CLASSES = ['_read', '_write', '_writev', '_final', '_destroy']

const METHODS = new Set([...PUBLIC, ...OF_CLASSES])

/** Functions that write properties of their first argument: one by name, or those of an object. */
const DEFINE = new Set(['Object.defineProperty', 'Reflect.defineProperty', 'Reflect.set'])
const ASSIGN = new Set(['Object.assign', 'Object.defineProperties'])

/**
 * An ESLint rule: nothing observes a stream by a method in place of node's, because node need not call it: Node 26's
 * pipe() calls _write() of a Writable and not its write(). It refuses
 *
 *    stream.write = …                  // of anything but `this`, also by Object.assign() and Object.defineProperty()
 *    class A extends Writable { write () { super.write() } }
 *
 * What stays is in replaced.js, by file, and has to be in use; or in `options[0]`: `{ [target]: entry }`.
 */
module.exports = {
  meta: { type: 'problem', schema: [{ type: 'object' }] },

  create (context) {
    const { sourceCode } = context
    const file = path.relative(ROOT, context.filename).replaceAll(path.sep, '/')
    const known = context.options[0] ?? replaced[file] ?? {}
    const unused = new Set(Object.keys(known))

    function refuse (node, message) {
      unused.delete(message)
      if (!Object.hasOwn(known, message)) context.report({ node, message })
    }

    function checkMember (node) {
      if (METHODS.has(nameOf(node)) && !isOwn(node.object)) refuse(node, sourceCode.getText(node))
    }

    function isOwn (object) {
      return object.type === 'ThisExpression' || ['exports', 'module.exports'].includes(sourceCode.getText(object))
    }

    /** `Readable`, `http.ServerResponse`: what a module of node gives. */
    function isOfNode (superClass) {
      const base = superClass?.type === 'MemberExpression' ? superClass.object : superClass
      if (base?.type !== 'Identifier') return false
      for (let scope = sourceCode.getScope(base); scope !== null; scope = scope.upper) {
        const init = scope.set.get(base.name)?.defs[0]?.node.init
        if (init) return init.callee?.name === 'require' && isBuiltin(init.arguments[0].value)
      }
      return false
    }

    return {
      'AssignmentExpression > MemberExpression.left': checkMember,
      ':matches(ArrayPattern, AssignmentPattern) > MemberExpression': checkMember,
      'ObjectPattern > Property > MemberExpression.value': checkMember,
      CallExpression (node) {
        const callee = sourceCode.getText(node.callee)
        const [target, change] = node.arguments
        if (!change || isOwn(target) || target.type === 'ObjectExpression') return
        const isMethod = DEFINE.has(callee)
          ? METHODS.has(change.value)
          : ASSIGN.has(callee) && change.type === 'ObjectExpression' && change.properties.some(property => METHODS.has(keyOf(property)))
        if (isMethod) refuse(node, sourceCode.getText(node))
      },
      'ClassBody > MethodDefinition' (node) {
        const name = keyOf(node)
        const { superClass } = node.parent.parent
        if (node.static || !PUBLIC.includes(name) || !isOfNode(superClass)) return
        const calls = sourceCode.getText(node.value).includes(`super.${name}`)
        if (calls) refuse(node, `${node.parent.parent.id?.name ?? 'class'}.${name}`)
      },
      'Program:exit' (node) {
        for (const message of unused) context.report({ node, message: `an entry without a use: ${message}` })
      }
    }
  }
}

function nameOf ({ property, computed }) {
  if (!computed) return property.name
  return property.type === 'Literal' ? property.value : undefined
}

function keyOf ({ key, computed }) {
  return computed ? undefined : key?.name ?? key?.value
}
