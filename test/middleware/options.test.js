'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const set = require('kone/middleware')
const { names } = require('../../tools/middleware-index')
const { makersOf, OPEN, REFUSED } = require('./options')

// accepted whatever it is; a part of the first argument
const IGNORED = { csrf: 'saltLength', logger: 'transporter' }

const misspelt = name => name.length < 4 ? `${name}x` : `${name.slice(0, -1)}q`
const namesOf = rows => rows.flatMap(([, ...names]) => names)
const under = (path, value) => path.split('.').reduceRight((inner, name) => ({ [name]: inner }), value)

for (const [name, rows] of Object.entries(REFUSED)) {
  describe(`the options of ${name}`, () => {
    const makers = name === 'session' ? makersOf(name).slice(0, 1) : makersOf(name) // session.final() has no options
    const refuses = (given, message) => {
      for (const maker of makers) assert.throws(() => maker(given), { name: 'TypeError', message }, JSON.stringify(given))
    }

    it('should make a function that has its name', { skip: name === 'router' && 'makes a router' }, () => {
      for (const maker of makersOf(name)) assert.equal(maker().name, name === 'static' ? 'serve' : name)
    })

    it('should be an object, or left out', () => {
      for (const maker of makers) {
        maker()
        maker({})
        maker(null)
      }
      for (const wrong of [5, true, ['a']]) refuses(wrong, /options must be an object/)
    })

    it('should each refuse another type and an impossible value, by name', () => {
      for (const [values, ...paths] of rows) {
        for (const path of paths) {
          for (const value of values) refuses(under(path, value), new RegExp(`^${name}: options\\.${path}\\b.* \\(kone/middleware/${name}/README\\.md\\)$`, 's'))
        }
      }
    })

    it('should each be suggested for a misspelt name', () => {
      for (const path of namesOf(rows)) {
        if (path.startsWith(`${OPEN[name]}.`)) continue
        const wrong = misspelt(path)
        refuses(under(wrong, true), new RegExp(`^${name}: options\\.${wrong} is unknown: did you mean \`\\w+\`\\? \\(kone/middleware/${name}/README\\.md\\)$`))
      }
    })

    it('should refuse a name that is nothing like one', () => {
      refuses({ qqqqqqqqqqqq: 1 }, /^\w+: options\.qqqqqqqqqqqq is unknown(, only \w|: there are no options)/)
    })
  })
}

describe('the options of the set', () => {
  it('should all be tested here', () => {
    assert.deepEqual(Object.keys(REFUSED), names().filter(name => !['timeout', 'views'].includes(name))) // ms; template
    assert.equal(set.views, set.template)
    assert.deepEqual([set.timeout(1).name, set.helmet.hsts().name, set.static(__dirname, { defer: true }).name],
      ['timeout', 'hsts', 'serve'])
  })

  it('should be those of the manual', () => {
    for (const [name, rows] of Object.entries(REFUSED)) {
      const [make] = makersOf(name)
      const options = namesOf(rows)
      const page = fs.readFileSync(path.join(__dirname, '../../middleware', name, 'README.md'), 'utf8')
      const [, table = ''] = /^\| option \|.*\n\|[-|]+\|\n((?:\|.*\n)*)/m.exec(page) ?? []
      const listed = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell]) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, one]) => one))
      for (const one of listed) assert(options.includes(one) || IGNORED[name] === one, `${one} of ${name} is not checked here`)
      for (const one of options) {
        const isRefused = () => {
          try {
            make(under(one, rows.find(([, ...names]) => names.includes(one))[0][0]))
          } catch (err) {
            return err.message.includes('is not supported')
          }
        }
        assert(listed.includes(one) || one.includes('.') || page.includes(`\`${one}\``) || isRefused(), `${one} is not in the manual of ${name}`)
      }
    }
  })

  it('should be suggested by the name that was meant', () => {
    assert.throws(() => set.compress({ treshold: 1 }), /did you mean `threshold`\?/)
    assert.throws(() => set.upload({ limits: { filesize: 1 } }), /options\.limits\.filesize is unknown: did you mean `fileSize`\?/)
    assert.throws(() => set.helmet({ hsts: { includeSubdomains: true } }), /did you mean `includeSubDomains`\?/)
    assert.throws(() => set.helmet.frameguard({ acton: 'deny' }), /^TypeError: helmet\.frameguard: .* `action`\?/)
  })

  it('should be checked by every final, too', () => {
    const first = { logger: [console], static: [__dirname] } // arguments before the options
    const finals = Object.keys(set).filter(name => set[name].final !== undefined)
    assert(finals.length > 7)
    for (const name of finals) {
      const make = options => set[name].final(...first[name] ?? [], options)
      make()
      make({})
      for (const option of ['qqqqqqqqqqqq', misspelt(namesOf(REFUSED[name] ?? [])[0] ?? 'none')]) {
        assert.throws(() => make({ [option]: true }), { name: 'TypeError', message: new RegExp(`: options\\.${option} is unknown`) }, name)
      }
    }
  })

  it('should be left alone', () => {
    for (const name of ['bodyParser', 'compress', 'logger', 'static']) {
      const [make] = makersOf(name)
      assert.doesNotThrow(() => make(Object.freeze({})))
    }
    assert.doesNotThrow(() => set.bodyParser(Object.freeze({ jsonLimit: '2mb', onerror: () => {} })))
  })
})
