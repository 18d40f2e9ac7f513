'use strict'

const assert = require('node:assert/strict')
const { existsSync, readFileSync, readdirSync } = require('node:fs')
const { join } = require('node:path')
const { describe, it } = require('node:test')
const { filesOf, inOrder, without, ...lists } = require('./plan')

const ROOT = join(__dirname, '..')
const read = file => readFileSync(join(ROOT, file), 'utf8')

describe('the plan of the tests', () => {
  for (const [name, list] of Object.entries(lists)) {
    it(`should name what exists in ${name}`, () => {
      assert.deepEqual(list.filter(path => !existsSync(join(ROOT, path))), [])
    })
  }

  it('should have every file once, the longest first', () => {
    const files = filesOf(['test'])
    assert.deepEqual(inOrder(files).sort(), files)
    assert.equal(inOrder(files)[0], lists.FIRST[0])
    assert.deepEqual(without(files, ['test/cluster']).filter(file => file.startsWith('test/cluster/')), [])
  })

  it('should know the modules in which the option Promise is read, whose tests run with bluebird, too', () => {
    const modules = ['lib', 'middleware', 'cluster', 'command'].flatMap(folder => readdirSync(join(ROOT, folder), { recursive: true })
      .filter(name => name.endsWith('.js')).map(name => join(folder, name)))
    // app.Promise, options.Promise, { Promise, … }
    const seeing = modules.filter(file => /\.Promise\b|\{[^}\n]*\bPromise\b[,: }]/.test(read(file).replace(/^ *(?:\*|\/\/).*$/gm, '')))
    assert.deepEqual(seeing.sort(), lists.SEE_PROMISE)
  })

  it('should run with bluebird what takes its class from helpers', () => {
    const others = filesOf(lists.BLUEBIRD).filter(file => !/helpers\/(?:context|engines|kone|rows)'/.test(read(file)))
    assert.deepEqual(others, lists.NOT_BLUEBIRD)
  })
})
