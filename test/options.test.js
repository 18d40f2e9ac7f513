'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const client = require('kone/client')
const set = require('kone/middleware')
const ts = require('typescript')
const Kone = require('./helpers/kone')
const { makersOf, TABLES } = require('./middleware/options')

const ROOT = path.join(__dirname, '..')

/*
 * Every public function that takes options refuses a misspelt one and one of the wrong type. The declarations say which
 * functions these are: a new one needs a row here.
 */

const { router: Router } = set
const app = new Kone()
const router = new Router().get('user', '/:id', () => {})
set.i18n(app, { locales: { en: {} } })
const request = Object.create(app.request, { path: { value: '/' } })

/** The function, in its declaration → [a call of it, one of its options]. */
const ROWS = {
  'lib/client.d.ts client': [options => client('', options), 'fetch'],
  'lib/client.d.ts Verb': [options => client('').get('/', options), 'query'],
  'lib/index.d.ts constructor': [options => new Kone(options), 'subdomainOffset'],
  'lib/index.d.ts close': [options => app.close(options), 'timeout'],
  'lib/index.d.ts onClose': [options => app.onClose(() => {}, options), 'before'],
  'lib/index.d.ts Inject': [options => app.inject(options), 'method'],
  'lib/index.d.ts readBody': [options => app.request.readBody.call({}, options), 'limit'],
  'lib/index.d.ts websocket': [options => app.inject.websocket('/', options), 'engine'],
  'middleware/i18n/index.d.ts getLocaleFromUrl': [options => request.getLocaleFromUrl(options), 'offset'],
  'middleware/router/index.d.ts Router': [options => Router(options), 'strict'],
  'middleware/router/index.d.ts constructor': [options => new Router(options), 'strict'],
  'middleware/router/index.d.ts allowedMethods': [options => router.allowedMethods(options), 'throw'],
  'middleware/router/index.d.ts register': [options => router.register('/', ['get'], () => {}, options), 'ignoreCaptures'],
  'middleware/router/index.d.ts url': [options => router.url('user', { id: 1 }, options), 'query'],
  'middleware/router/verb.d.ts Verb': [options => router.get('/', options, () => {}), 'summary'],
  'middleware/session/index.d.ts sealedCookie': [options => set.session.sealedCookie(options), 'keys']
}
for (const [name, { rule }] of Object.entries(TABLES)) {
  if (name === 'router') continue
  const [known] = Object.entries(rule.members).find(([, rule]) => rule.refusal(Symbol.iterator, '') !== undefined) ?? []
  makersOf(name).forEach((maker, i) => {
    const declared = i === 1 ? 'final' : name === 'static' ? 'serve' : name
    ROWS[`middleware/${name}/index.d.ts ${declared}`] = [maker, known]
  })
}
for (const { name, options: { rule } } of TABLES.helmet.parts) {
  ROWS[`middleware/helmet/index.d.ts ${name}`] = [set.helmet[name], Object.keys(rule.members)[0]]
}

/** What checks its options itself, or belongs to others. */
const OTHERS = {
  'lib/index.d.ts listen': "node's",
  'lib/index.d.ts attachment': "content-disposition's, as in Koa",
  'lib/index.d.ts get': 'of the package cookies, as in Koa',
  'lib/index.d.ts set': 'of the package cookies, as in Koa',
  'middleware/bodyParser/index.d.ts parse': "of the app's own qs",
  'middleware/websocket/index.d.ts send': "ws's"
}

/** What takes options: functions with a parameter of that name or type, and those of helmet. */
function takers (file) {
  const found = []
  const source = ts.createSourceFile(file, fs.readFileSync(path.join(ROOT, file), 'utf8'), ts.ScriptTarget.Latest, true)
  const isOptions = ({ name, type }) => /^(?:options|opts|operation)$/.test(name.getText()) || /(?:Options|InjectRequest)\b/.test(type?.getText())
  const visit = node => {
    if (node.parameters?.some(isOptions) || (ts.isVariableDeclaration(node) && /^Part</.test(node.type?.getText()))) {
      let named = node
      while (named.name === undefined && !ts.isConstructorDeclaration(named)) named = named.parent
      found.push(`${file} ${named.name?.getText() ?? 'constructor'}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

describe('the options of a public function', () => {
  it('should be checked here, for each function', () => {
    const files = ['lib', 'middleware'].flatMap(folder => fs.readdirSync(path.join(ROOT, folder), { recursive: true })
      .filter(name => name.endsWith('.d.ts')).map(name => path.posix.join(folder, name.replaceAll(path.sep, '/'))))
    assert.deepEqual([...new Set(files.flatMap(takers))].sort(), Object.keys({ ...ROWS, ...OTHERS }).sort())
  })

  for (const [name, [call, known = 'option']] of Object.entries(ROWS)) {
    it(`should be refused if they are misspelt or of the wrong type: ${name}`, async () => {
      const refuses = (options, message) => assert.rejects(async () => call(options), { name: 'TypeError', message }, message.source)
      const misspelt = `${known.slice(0, -1)}${known.at(-1)}${known.at(-1)}`
      await refuses({ [misspelt]: 1 }, new RegExp(`options\\.${misspelt} is unknown.*\\(kone/.*\\.md\\)$`))
      // new Koa() ignores whatever has no option of its own; the client checks by itself, to be small
      if (!/client|lib.*constructor/.test(name)) await refuses(Promise.resolve({}), /must be (?:a function|an object)\b/)
      if (known !== 'option') await refuses({ [known]: Symbol.iterator }, new RegExp(`options\\.${known}\\b.* must be .*\\(kone/.*\\.md\\)$`))
    })
  }
})
