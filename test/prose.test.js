'use strict'

const { describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { prose } = require('./helpers/prose')

const ROOT = path.join(__dirname, '..')
const SKIPPED = /(^|\/)(node_modules|coverage|dist|fixtures|results|out|locales|\.vitepress|\.git|\.block-\w+)(\/|$)/

/** Words that strangers did not understand in the first build, and the field's words for them. */
const RETIRED = [
  { words: /\banswer(s|ed|ing)?\b/i, use: 'response, responds' },
  { words: /\b(the|a|its|each|this|one) heads?\b|\bheads? (is|are|of|was)\b/, use: 'headers, header section' },
  { words: /(?<!\/)\basked\b(?! for)/i, use: 'requested' },
  { words: /\btold\b/i, use: 'notified, reported' },
  { words: /\brooms?\b(?! of socket\.io)/i, use: 'module' },
  { words: /\blean\b/i, use: 'fast path' },
  { words: /\b(stands?|standing|stood) aside\b/i, use: 'falls back to node:http' },
  { words: /\b(is|are|was|were) out\b(?! of\b)|\bout whole\b/i, use: 'sent, flushed' },
  { words: /\bwait(s|ing|ed)? for (its|their) turn\b/i, use: 'is queued' },
  { words: /\bwanted differences?\b|\bdifferences? that (is|are) wanted\b/i, use: 'intentional difference' },
  { words: /\bdifferences that stay\b/i, use: 'known differences' },
  { words: /\bnot mine\b/i, use: 'unsupported' },
  { words: /\b(is|are|was) none\b/i, use: 'is missing, is not one' },
  { words: /\bhangs? together\b/i, use: 'depend on each other' },
  { words: /\b(hears?|heard) of\b/i, use: 'is notified of' },
  { words: /\blies? at\b/i, use: 'is stored in' }
]

/** This file lists the words, and reports quote the sentences of others. */
const EXEMPT = new Set(['test/prose.test.js', 'test/helpers/prose.js'])

function * files (folder = '') {
  for (const entry of fs.readdirSync(path.join(ROOT, folder), { withFileTypes: true })) {
    const file = path.posix.join(folder, entry.name)
    if (SKIPPED.test(file)) continue
    if (entry.isDirectory()) yield * files(file)
    else if (/\.(?:[cm]?js|m?ts|md)$/.test(file) && !EXEMPT.has(file)) yield file
  }
}

const retired = (file, source) => prose(file, source).flatMap(({ line, text }) => RETIRED
  .filter(({ words }) => words.test(text))
  .map(({ words, use }) => `${file}:${line}: "${words.exec(text)[0]}": ${use} · ${text.trim()}`))

describe('the words of comments, documents, messages and test titles', () => {
  for (const folder of ['benchmarks', 'cluster', 'command', 'create', 'docs', 'examples', 'lib', 'middleware', 'test', 'tools']) {
    it(`should be the field's in ${folder}/`, () => {
      const found = [...files(folder)].flatMap(file => retired(file, fs.readFileSync(path.join(ROOT, file), 'utf8')))
      assert.equal(found.join('\n'), '')
    })
  }

  it('should be the field\'s in the documents at the top', () => {
    const documents = fs.readdirSync(ROOT).filter(name => name.endsWith('.md'))
    assert.ok(documents.includes('README.md'))
    const found = documents.flatMap(file => retired(file, fs.readFileSync(path.join(ROOT, file), 'utf8')))
    assert.equal(found.join('\n'), '')
  })
})

describe('the look for retired words', () => {
  const found = (file, source) => retired(file, source).length

  it('should read comments, texts of several words and test titles', () => {
    assert.equal(found('a.js', '// The answer is sent.'), 1)
    assert.equal(found('a.js', '/**\n * Notified when\n * the response is out.\n */'), 1)
    assert.equal(found('a.js', "it('should answer 200', () => {})"), 1)
    assert.equal(found('a.js', 'const text = `the front ${verb} and stands aside`'), 1) // eslint-disable-line no-template-curly-in-string
    assert.equal(found('a.mjs', "import a from 'a' // not mine"), 1)
    assert.equal(found('a.d.ts', '/** Waits for its turn. */\nexport const a: number'), 1)
    assert.equal(found('a.md', 'A request is asked.'), 1)
  })

  it('should not read code', () => {
    assert.equal(found('a.js', "const answer = ask('GET /')\nanswer.head // of `the answer`"), 0)
    assert.equal(found('a.js', '/**\n * Ask.\n *\n *    const answer = ask()\n */'), 0)
    assert.equal(found('a.md', '```js\n// the answer is out\n```\n\nThe name `answer` stays.'), 0)
    assert.equal(found('a.js', '// by HEAD, out of memory'), 0)
  })

  it('should say which file is broken', () => {
    assert.throws(() => prose('a.js', 'const ='), /line 1/)
  })

  it('should have a sentence that each word is found in', () => {
    const sentences = [
      'it answers', 'the head of a response', 'was asked', 'is told', 'the room', 'a lean object', 'it stands aside', 'it is out',
      'waits for its turn', 'a wanted difference', 'differences that stay', 'it is not mine', 'there is none', 'they hang together',
      'who hears of it', 'it lies at the path'
    ]
    assert.equal(sentences.length, RETIRED.length)
    sentences.forEach((text, i) => assert.match(text, RETIRED[i].words))
  })
})
