'use strict'

const path = require('node:path')
const strangers = require('./strangers')

const LIB = path.join(__dirname, '../../lib')

/** Setters that Koa documents: whoever has a ctx may assign to them. */
const KOA = new Set([
  'status', 'message', 'body', 'length', 'type', 'lastModified', 'etag', // of ctx and ctx.response
  'url', 'method', 'path', 'query', 'querystring', 'search', 'accept', 'ip' // of ctx and ctx.request
])

/** Fields that node documents as assignable. */
const NODE = new Set(['url', 'method', 'headers', 'statusCode', 'statusMessage'])

/** Classes of the language whose instances belong to whoever made them. */
const BUILT_IN = new Set(['Object', 'Array', 'Error', 'TypeError', 'RangeError', 'RegExp', 'Map', 'Set', 'WeakMap', 'Uint8Array'])

/** `Object.x(…)` and the like that give a new object. */
const CREATES = new Set(['Object.create', 'Object.fromEntries', 'Array.from', 'Array.of'])

/** Functions that change their first argument. */
const CHANGES = new Set([
  'Object.assign', 'Object.defineProperty', 'Object.defineProperties', 'Object.setPrototypeOf',
  'Reflect.set', 'Reflect.defineProperty', 'Reflect.deleteProperty', 'Reflect.setPrototypeOf'
])

/**
 * An ESLint rule: one owner per fact. It refuses every assignment (also `++`, `delete`,
 * destructuring, `for … of`, `Object.assign` and `Object.defineProperty`) to a member of an object
 * that is neither `this` nor created in the same file. Koa's public setters, node's documented
 * fields, and members named by a symbol that the file itself makes are allowed, and so is what strangers.js lists for
 * the file, which has to be in use, or `options[0]`: `{ fields: string[], exceptions: { [target]: why } }`.
 */
module.exports = {
  meta: { type: 'problem', schema: [{ type: 'object' }] },

  create (context) {
    const { sourceCode } = context
    const own = context.options[0] ?? strangers(path.relative(LIB, context.filename).replaceAll(path.sep, '/'))
    const fields = new Set(own.fields)
    const unused = new Set(Object.keys(own.exceptions ?? {}))

    function refuse (node) {
      const message = sourceCode.getText(node)
      unused.delete(message)
      if (!Object.hasOwn(own.exceptions ?? {}, message)) context.report({ node, message })
    }

    function checkMember (member) {
      if (member.property.type === 'PrivateIdentifier') return
      const name = nameOf(member)
      if (name !== undefined && (KOA.has(name) || NODE.has(name) || fields.has(name))) return
      if (member.computed && isOwnSymbol(member.property)) return
      if (!isOwned(member.object)) refuse(member)
    }

    /** `const kX = Symbol()`, or a property of an object literal of such, made in this file. */
    function isOwnSymbol (node) {
      if (node.type !== 'Identifier') return false
      const init = variableOf(node)?.defs[0]?.node.init
      return init?.type === 'CallExpression' && /^Symbol(\.for)?$/.test(sourceCode.getText(init.callee))
    }

    function variableOf (identifier) {
      for (let scope = sourceCode.getScope(identifier); scope !== null; scope = scope.upper) {
        const variable = scope.set.get(identifier.name)
        if (variable !== undefined) return variable
      }
    }

    /** Whether the object that an expression gives was created in this file, or is `this`. */
    function isOwned (node) {
      switch (node.type) {
        case 'ThisExpression': return isOwnThis(node)
        case 'Identifier': return isOwnVariable(node)
        case 'MemberExpression': return isOwnMember(node)
        case 'AssignmentExpression': return isOwned(node.right)
        case 'ConditionalExpression': return isOwned(node.consequent) && isOwned(node.alternate)
        case 'LogicalExpression': return isOwned(node.left) && isOwned(node.right)
        default: return isCreation(node)
      }
    }

    function isCreation (node) {
      if (/^(Object|Array|Function|ArrowFunction|Class)Expression$/.test(node.type) || node.regex) return true
      if (node.type === 'NewExpression') {
        const { callee } = node
        if (callee.type !== 'Identifier') return false
        const type = variableOf(callee)?.defs[0]?.type
        return type === 'ClassName' || type === 'FunctionName' || (type === undefined && BUILT_IN.has(callee.name))
      }
      if (node.type !== 'CallExpression') return false
      const callee = sourceCode.getText(node.callee)
      return CREATES.has(callee) || (CHANGES.has(callee) && node.arguments.length > 0 && isOwned(node.arguments[0]))
    }

    function isNothing (node) {
      return (node.type === 'Literal' && node.value === null) || (node.type === 'Identifier' && node.name === 'undefined')
    }

    function isOwnVariable (identifier) {
      const variable = variableOf(identifier)
      if (variable === undefined || variable.defs.length === 0) return ['module', 'exports'].includes(identifier.name)
      const [{ type, node }] = variable.defs
      if (type === 'ClassName' || type === 'FunctionName') return true
      if (type !== 'Variable') return false
      if (node.id.type === 'ObjectPattern') return isOwnDestructured(node, identifier.name)
      const written = variable.references.filter(reference => reference.isWrite()).map(({ writeExpr }) => writeExpr)
      return written.length > 0 && written.every(value => value && (isNothing(value) || isOwned(value)))
    }

    /** `const { list } = this` */
    function isOwnDestructured ({ id, init }, name) {
      if (init?.type !== 'ThisExpression' || !isOwnThis(init)) return false
      const property = id.properties.find(({ value }) => value?.name === name)
      return property !== undefined && isOwnField(init, property.key.name)
    }

    function isOwnMember (node) {
      if (sourceCode.getText(node) === 'module.exports') return true
      const name = nameOf(node)
      if (node.object.type === 'ThisExpression') return isOwnThis(node.object) && isOwnField(node.object, name)
      return name === 'prototype' && node.object.type === 'Identifier' && isOwnVariable(node.object)
    }

    /** Whether every value that the class gives to `this.name` is created there. */
    function isOwnField (node, name) {
      const values = []
      const visit = node => {
        if (node.type === 'PropertyDefinition' && node.key.name === name && node.value) values.push(node.value)
        if (node.type === 'AssignmentExpression' && node.left.type === 'MemberExpression' &&
            node.left.object.type === 'ThisExpression' && nameOf(node.left) === name) values.push(node.right)
        for (const key of sourceCode.visitorKeys[node.type]) {
          for (const child of [].concat(node[key])) if (child) visit(child)
        }
      }
      visit(homeOf(node))
      return values.some(isCreation) && values.every(value => isNothing(value) || isCreation(value))
    }

    const isOwnThis = node => homeOf(node) !== null

    /** The class, object literal or constructor function of this file whose instance `this` is. */
    function homeOf (node) {
      let fn = node
      do {
        fn = fn.parent
        if (fn === null) return null
        if (fn.type === 'PropertyDefinition' || fn.type === 'StaticBlock') return fn.parent
      } while (fn.type !== 'FunctionExpression' && fn.type !== 'FunctionDeclaration')
      const { parent } = fn
      if (parent.type === 'MethodDefinition') return parent.parent
      if (parent.type === 'Property' && (parent.method || parent.kind !== 'init')) return parent.parent
      if (fn.id === null) return null
      const constructs = reference => reference.identifier.parent.type === 'NewExpression'
      return sourceCode.getDeclaredVariables(fn).some(({ references }) => references.some(constructs)) ? fn : null
    }

    function checkCall (node) {
      const callee = sourceCode.getText(node.callee)
      if (!CHANGES.has(callee) || node.arguments.length === 0) return
      const [target, change] = node.arguments
      if (isOwned(target)) return
      if (change && (isOwnSymbol(change) || fields.has(change.value))) return
      if (callee === 'Object.assign' && change?.type === 'ObjectExpression' && change.properties.every(isAllowed)) return
      refuse(node)
    }

    function isAllowed (property) {
      if (property.type !== 'Property') return false
      if (property.computed) return isOwnSymbol(property.key)
      const name = property.key.name ?? property.key.value
      return KOA.has(name) || NODE.has(name) || fields.has(name)
    }

    const checkTargets = pattern => membersOf(pattern).forEach(checkMember)

    return {
      AssignmentExpression: node => checkTargets(node.left),
      UpdateExpression: node => checkTargets(node.argument),
      'UnaryExpression[operator="delete"]': node => checkTargets(node.argument),
      ForInStatement: node => checkTargets(node.left),
      ForOfStatement: node => checkTargets(node.left),
      CallExpression: checkCall,
      'Program:exit' (node) {
        for (const message of unused) context.report({ node, message: `an exception without a use: ${message}` })
      }
    }
  }
}

function nameOf (member) {
  const { property, computed } = member
  if (!computed) return property.name
  return property.type === 'Literal' ? String(property.value) : undefined
}

/** The members that a target of an assignment consists of. */
function membersOf (target) {
  switch (target?.type) {
    case 'MemberExpression': return [target]
    case 'ChainExpression': return membersOf(target.expression)
    case 'ObjectPattern': return target.properties.flatMap(property => membersOf(property.value ?? property.argument))
    case 'ArrayPattern': return target.elements.flatMap(membersOf)
    case 'AssignmentPattern': return membersOf(target.left)
    case 'RestElement': return membersOf(target.argument)
    default: return []
  }
}
