'use strict'

const { after, before, describe, it } = require('node:test')
const assert = require('node:assert/strict')
const fs = require('node:fs')
const http = require('node:http')
const path = require('node:path')
const { killTimeout } = require('../../cluster/settings')
const { codes } = require('../../lib/core/errors')
const { names } = require('../../tools/middleware-index')
const { commonJS, program } = require('../../docs/.vitepress/program')
const { blocks, run, quotes } = require('../helpers/blocks')

const root = path.join(__dirname, '../..')
const PROJECT = path.join(__dirname, 'project')
const markdown = folder => fs.readdirSync(path.join(root, folder), { recursive: true })
  .filter(file => file.endsWith('.md') && !/(?:^|\/)(?:node_modules|\.vitepress)\//.test(file))
  .map(file => path.join(folder, file))
const pages = ['README.md', 'MIGRATION.md', 'SECURITY.md', 'CHANGELOG.md', 'CONTRIBUTING.md', ...markdown('lib'),
  ...markdown('docs'), ...markdown('examples'), ...markdown('middleware')]

/** Pages whose files make an app: test/docs/getting-started.long.test.js follows them. */
const FOLLOWED = ['docs/guide/getting-started.md', 'docs/guide/forms.md']

const cwd = process.cwd()
before(() => process.chdir(PROJECT))
after(() => process.chdir(cwd))

for (const page of pages) {
  describe(page, () => {
    const text = fs.readFileSync(path.join(root, page), 'utf8')
    const code = blocks(text)

    for (const block of code) {
      const title = `${block.code.trim().split('\n')[0]} (line ${block.line})`
      if (block.from) {
        it(`should quote ${block.from}: ${title}`, () => assert.ok(quotes(block)))
      } else if (block.file) {
        it(`should be a file of the page's app: ${block.file}`, () => assert.ok(FOLLOWED.includes(page)))
      } else if (block.language === 'js') {
        it(`should run: ${title}`, async t => {
          assert.ok(!block['no-run'], 'JavaScript is run')
          const other = commonJS(block.code) // the other tab of the site
          try {
            await run(block)
            if (other !== null) await run({ ...block, code: other })
          } catch (err) {
            if (!err.skip) throw err
            t.skip(err.skip)
          }
        })
      } else if (block.language) {
        it(`should say why this is not run: ${title}`, () => assert.ok(block['no-run']))
      }
    }

    it('should begin with an example that is whole: those after it are read as its parts', () => {
      const first = code.find(({ language, code, from, file }) =>
        language === 'js' && !from && !file && /\b(?:app|ctx|Kone)\b/.test(code))
      assert.ok(!first || !program(first.code).completed, `line ${first?.line} uses what it does not declare`)
    })

    it('should link to what is there', () => {
      for (const [, target] of text.matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)) {
        const [file, anchor] = target.split('#')
        const linked = file ? path.join(path.dirname(page), file) : page
        assert.ok(fs.existsSync(path.join(root, linked)), target)
        if (anchor) assert.ok(anchors(linked).includes(anchor), target)
      }
    })
  })
}

it('should list every error code of kone, and no other', () => {
  const known = Object.entries(codes).map(([code, meaning]) => [code, /\((\d+|–)\)$/.exec(meaning)[1]])
  for (const page of ['docs/api/application.md', 'docs/guide/troubleshooting.md']) {
    const text = fs.readFileSync(path.join(root, page), 'utf8')
    const listed = [...text.matchAll(/^\| `(KONE_ERR_\w+)` \| (\d+|–) /gm)].map(([, code, status]) => [code, status])
    assert.deepEqual(listed, known, page)
  }
})

it('should list every warning of kone that has a code, and no other', () => {
  const sources = ['cluster', 'command', 'lib', 'middleware'].flatMap(folder =>
    fs.readdirSync(path.join(root, folder), { recursive: true }).filter(file => file.endsWith('.js')).map(file => path.join(folder, file)))
  const codesOf = (file, pattern) => [...fs.readFileSync(path.join(root, file), 'utf8').matchAll(pattern)].map(([, code]) => code)
  const known = new Set(sources.flatMap(file => codesOf(file, /\bcode: '(KONE_(?!ERR_)\w+)'/g)))
  const listed = codesOf('docs/guide/troubleshooting.md', /^\| `(KONE_(?!ERR_)\w+)` \|/gm)
  assert.ok(known.size > 2)
  assert.deepEqual(listed.sort(), [...known].sort())
})

it('should count the middleware of the set', () => {
  const set = names().filter(name => name !== 'views') // another name of template
  const counts = pages.flatMap(page => [...fs.readFileSync(path.join(root, page), 'utf8')
    .matchAll(/\b(\d+) (?:modules|middleware|in the package)\b/g)].map(([, count]) => [page, Number(count)]))
  assert.ok(counts.length > 3)
  assert.deepEqual(counts.filter(([, count]) => count !== set.length), [])
})

describe('docs/api/deploy.md', () => {
  const read = file => fs.readFileSync(path.join(root, file), 'utf8')
  const inImage = seconds('Dockerfile', /DRAIN_TIMEOUT=(\d+)000/)
  const deployed = {
    DRAIN_TIMEOUT: seconds('kone.service', /DRAIN_TIMEOUT=(\d+)000/),
    TimeoutStopSec: seconds('kone.service', /^TimeoutStopSec=(\d+)/m),
    preStop: seconds('kubernetes.yaml', /command: \[sleep, '(\d+)'\]/),
    terminationGracePeriodSeconds: seconds('kubernetes.yaml', /terminationGracePeriodSeconds: (\d+)/),
    keepalive_timeout: seconds('nginx.conf', /keepalive_timeout (\d+)s/)
  }

  function seconds (file, pattern) {
    return Number(pattern.exec(read(`examples/deploy/${file}`))[1])
  }

  it('should list the times that are deployed', () => {
    const rows = read('docs/api/deploy.md').matchAll(/^\| `(\w+)`[^|]* \| (\d+) \|/gm)
    assert.deepEqual(Object.fromEntries([...rows].map(([, name, value]) => [name, Number(value)])), deployed)
  })

  it('should list times that depend on each other', () => {
    const gone = killTimeout({ drainTimeout: deployed.DRAIN_TIMEOUT * 1000 }) / 1000
    assert.equal(gone, deployed.DRAIN_TIMEOUT + 3)
    assert.ok(gone < deployed.TimeoutStopSec)
    assert.ok(killTimeout({ drainTimeout: inImage * 1000 }) / 1000 < 10, 'docker stop kills')
    assert.ok(read('docs/api/deploy.md').includes(`| the \`DRAIN_TIMEOUT\` of the image | ${inImage} |`))
    assert.ok(deployed.preStop + gone < deployed.terminationGracePeriodSeconds)
    assert.ok(deployed.keepalive_timeout * 1000 < http.createServer().keepAliveTimeout)
  })
})

describe('the blocks of a page', () => {
  const page = (code, exchanges) => {
    const http = exchanges ? `\n\`\`\`http\n${exchanges}\n\`\`\`` : ''
    return run(blocks(`text\n\n\`\`\`js\n${code}\n\`\`\`${http}\n`)[0])
  }

  it('should pass if they hold', async () => {
    await page('[1, 2].length // => 2')
    await page("ctx.path // => '/a'", '> GET /a')
    await page('app.use(ctx => { ctx.body = String(1) })', '> GET /\n< 200\n< Content-Length: 1\n<\n< 1')
  })

  it('should fail if a value is another one', async () => {
    await assert.rejects(page('[1, 2].length // => 3'))
    await assert.rejects(page("ctx.path // => '/b'", '> GET /a'))
  })

  it('should fail if a claim is not reached', async () => {
    await assert.rejects(page('if (!app) {\n  1 // => 1\n}'), /never reached/)
  })

  it('should fail if a response is another one', async () => {
    const code = 'app.use(ctx => { ctx.body = 1 })'
    await assert.rejects(page(code, '> GET /\n< 201'))
    await assert.rejects(page(code, '> GET /\n< 200\n< Content-Type: text/html'))
    await assert.rejects(page(code, '> GET /\n< 200\n<\n< 2'))
    await assert.rejects(page("app.use(() => { throw new Error('x') })", '> GET /'))
  })

  it('should be completed to a program', () => {
    const text = (code, ...requests) => program(code, requests).text
    const request = (method, target, headers = {}, body = undefined) => ({ method, target, headers, body })
    assert.equal(text('1 + 1'), '1 + 1\n')
    assert.equal(program('1 + 1').completed, false)
    assert.equal(text("ctx.body = 'hi'", request('GET', '/a')), [
      "import Kone from 'kone'", '', 'const app = new Kone()', '', 'app.use(async (ctx, next) => {', "  ctx.body = 'hi'", '})', '',
      'app.listen(3000)', "// curl -i 'http://localhost:3000/a'", ''
    ].join('\n'))
    assert.equal(text("const app = require('./app') // ctx", request('POST', '/', { A: "it's" }, 'x')), [
      "const app = require('./app') // ctx", '', 'app.listen(3000)',
      "// curl -i -H 'A: it'\\''s' -d 'x' 'http://localhost:3000/'", ''
    ].join('\n'))
    assert.match(text("require('a')\nawait app.close()"), /^const Kone = .+\n\nasync function main \(\) \{\n {2}const app = .+\n\n {2}require\('a'\)\n {2}await app\.close\(\)\n\}\n\nmain\(\)\n$/)
    assert.equal(text('await app.close()'), "import Kone from 'kone'\n\nconst app = new Kone()\n\nawait app.close()\n")
    assert.match(text("import { compose } from 'kone'\napp.use(compose([]))"), /^import Kone from 'kone'\nimport \{ compose \} from 'kone'\n\nconst app/)
    assert.match(text("import a from 'a'\n\nctx.body = a"), /^import Kone .+\nimport a from 'a'\n\nconst app .+\n\napp\.use\(async \(ctx, next\) => \{\n {2}ctx\.body = a\n\}\)\n$/)
    assert.match(text('app.use(fn)', request('HEAD', '/')), /curl -i -I '/)
    assert.match(text('app.use(fn)', request('PUT', '/', {}, 'x')), /curl -i -X PUT -d 'x' '/)
  })

  it('should have a form in CommonJS if they import something', () => {
    assert.equal(commonJS('1 + 1'), null)
    assert.equal(commonJS("import a, { b as c, d } from 'a'\nimport { e } from 'e' // e\n\nb(import.meta.dirname)\nexport default a"), [
      "const a = require('a')", 'const { b: c, d } = a', "const { e } = require('e') // e", '', 'b(__dirname)', 'module.exports = a'
    ].join('\n'))
  })

  it('should be found where they are indented, with the comment before them', () => {
    const text = '- a\n\n  <!-- no-run: shell -->\n  ```sh\n  ls\n    -a\n  ```\n'
    assert.deepEqual(blocks(text), [{ language: 'sh', code: 'ls\n  -a\n', line: 4, 'no-run': 'shell' }])
  })
})

/**
 * The anchors of a page's headings, as GitHub makes them.
 */
function anchors (page) {
  const text = fs.readFileSync(path.join(root, page), 'utf8').replace(/^ *```[\s\S]*?^ *```$/gm, '')
  return [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading]) =>
    heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replace(/ /g, '-'))
}
