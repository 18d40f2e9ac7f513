'use strict'

const assert = require('node:assert/strict')
const { describe, it } = require('node:test')
const fc = require('fast-check')
const secure = require('secure-json-parse')

const parseJSON = require('../../middleware/_shared/json')
const share = require('../helpers/share')

const numRuns = share(500, 1500, 5000)

/** JSON with names that reach a prototype, also escaped, and the same with some characters replaced, left out or repeated. */
const NAMES = ['a', '__proto__', 'constructor', 'prototype', 'é', '\n']
const values = fc.letrec(tie => ({
  value: fc.oneof({ maxDepth: 4 }, fc.constantFrom(1, -2.5e3, true, null, '', '\ud800', ...NAMES), fc.array(tie('value')),
    fc.array(fc.tuple(fc.constantFrom(...NAMES), tie('value')), { maxLength: 3 }).map(pairs => Object.fromEntries(pairs)))
})).value
const texts = fc.tuple(values, fc.constantFrom(undefined, 1, '\n'), fc.boolean()).map(([value, blanks, escapes]) => {
  const text = JSON.stringify(value, null, blanks).replaceAll('"a":', () => '"__proto__":')
  return escapes ? text.replaceAll('o', '\\u006f') : text
})
const broken = fc.tuple(texts, fc.array(fc.tuple(fc.nat(), fc.constantFrom('', ',', ']', '}', '"', 'x', '1', ':', '😀', '\n', 'tru')), { maxLength: 3 }))
  .map(([text, changes]) => {
    for (const [at, by] of changes) {
      const i = at % (text.length + 1)
      text = text.slice(0, i) + by + text.slice(i + (at & 1))
    }
    return text.repeat(1 + (text.length % 3))
  })

function outcome (fn) {
  try {
    return fn()
  } catch (err) {
    return err.name
  }
}

/** The first character up to which the text is no beginning of JSON; its length for one that is a beginning. */
function breakOf (text) {
  for (let end = 1; end <= text.length; end++) {
    const { message = '' } = failureOf(text.slice(0, end))
    const [, position = message.startsWith('Unexpected token') ? end - 1 : end] = /position (\d+)/.exec(message) ?? []
    if (position < end) return Number(position)
  }
  return text.length
}

function failureOf (text) {
  try {
    JSON.parse(text)
    return {}
  } catch (err) {
    return err
  }
}

/** V8 has no comma there. */
const at = (line, column) => new RegExp(`\\(line ${line},? column ${column}\\)$`)

describe('the JSON of a client', () => {
  for (const action of ['error', 'remove', 'ignore']) {
    it(`should become what secure-json-parse makes of it with onProtoPoisoning: ${action}`, () => {
      fc.assert(fc.property(fc.oneof(texts, broken), text => {
        if (text === '') return
        assert.deepEqual(outcome(() => parseJSON(text, false, action)),
          outcome(() => secure.parse(text, { protoAction: action, constructorAction: action })))
      }), { numRuns })
    })
  }

  it('should be refused with the line and the column of the first character that cannot be there', () => {
    fc.assert(fc.property(broken, text => {
      if (text === '' || failureOf(text).message === undefined) return
      const before = text.slice(0, breakOf(text)).split('\n')
      assert.throws(() => parseJSON(text, false), err => {
        assert.match(err.message, at(before.length, before.at(-1).length + 1))
        return err.status === 400 && err.expose && err.body === text
      })
    }), { numRuns })
  })

  it('should be refused with a 400 however long a text in it is', () => {
    const long = 'a'.repeat(10 * 1024 * 1024)
    for (const text of [`["${long}`, `{"a":"${long}"`, `["${long}"x`, `"${long}"`]) assert.throws(() => parseJSON(text), { status: 400 })
  })

  for (const [title, text, line, column] of [
    ['a beginning that is no object and no array', ' \n"a"', 2, 1],
    ['blanks', '\n ', 2, 2],
    ['a mistake that is there several times', `[${'{"name":"a",},\n'.repeat(99)}]`, 1, 14],
    ['the characters of a mistake that are there before, in a text', '["1,1,1,1,1,x,1,1,1,1,1",1,1,1,1,1,x,1,1,1,1,1]', 1, 36]
  ]) {
    it(`should be refused with the place of ${title}`, () => {
      assert.throws(() => parseJSON(text), { message: at(line, column) })
    })
  }
})
