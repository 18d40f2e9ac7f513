'use strict'

const assert = require('node:assert/strict')
const { spawnSync } = require('node:child_process')
const fs = require('node:fs')
const os = require('node:os')
const path = require('node:path')
const { describe, it } = require('node:test')
const { table, updated } = require('../../benchmarks/lib/report/claims')
const { THEMES, draw } = require('../../benchmarks/lib/report/charts')
const Figures = require('../../benchmarks/lib/report/figures')
const { LABS, agesOf, generate, viewOf } = require('../../benchmarks/lib/report/report')
const { overview } = require('../../benchmarks/lib/report/tables')
const { parse, stringify } = require('../../benchmarks/lib/run/result')
const { result } = require('./fixtures/labs')

const REPORT = path.join(__dirname, '../../benchmarks/report.js')
const README = ['headline', 'table'].map(name => `<!-- ${name} -->\n<!-- /${name} -->`).join('\n')
const made = (results, more) => generate({ results, readme: README, claims: {}, ...more })
const fileOf = lab => ['static', 'connections', 'versions'].includes(lab) ? 'others' : lab
const page = (lab, results, more) => made(results, more).files.get(`docs/reports/${fileOf(lab)}.md`)

describe('the page of a lab', () => {
  for (const lab of LABS) {
    it(`should show every workload of ${lab}, with its charts, and no hole`, () => {
      const one = result(lab)
      const { files } = made([one])
      const text = files.get(`docs/reports/${fileOf(lab)}.md`)
      assert.doesNotMatch(text, /undefined|NaN|\bnull\b(?<!dev.null)|\[object/)
      assert.match(text, /#+ How it was measured/)
      const charts = [...files.keys()].filter(name => name.includes(`/charts/${lab}`))
      for (const name of charts) assert.ok(text.includes(path.basename(name)), name)
      for (const name of charts) assert.doesNotMatch(files.get(name), /undefined|NaN|Infinity/)
    })

    it(`should say how to measure ${lab} where no result is committed`, () => {
      assert.match(page(lab, []), new RegExp(`No result of this lab is committed. To get one: \`make .*${lab}`))
    })
  }

  it('should begin with the result: a sentence, where it comes from, a chart of all contenders, then the table of all workloads', () => {
    const text = page('battle', [result('battle')], { age: () => 41 })
    assert.match(text, /^# .*\n\nHello world, five middleware: kone takes 0\.32 of Koa 2’s, 0\.50 of node:http’s CPU time \(Node 26\)\.\n\nNode 26\.1\.0, commit `aaaaaaaaa` of 2026-11-22, 41 commits of lib ago\.\n\n<picture>[^]*?<\/picture>\n\n[^#|]*\n## Server CPU per request, µs\n\n\| \| kone/)
    const figures = new Figures(result('front'))
    const { table: [head, line], notes } = overview([{ figures, what: 'hello', workload: 'hello' }])
    assert.deepEqual(head, ['', 'above the socket: kone / Koa 2', 'kone', '`node:http`', 'Koa 2', 'kone ÷ Koa 2'])
    assert.deepEqual(line, ['hello', '-41.4 / 5.18', '20.7', '41.4', '67.3', '0.31 (0.31–0.31)'])
    assert.match(notes.join(), /Not measured: `node:http`, cheapest form\./)
  })

  it('should have no table of its results that is wider than six columns', () => {
    for (const lab of LABS) {
      const [measured] = page(lab, [26, 24, 20].map(node => result(lab, { node }))).split(/\n#+ (?:The original report|How it was)/)
      const widths = measured.split('\n').filter(line => line.startsWith('|')).map(line => line.split(' | ').length)
      assert.ok(Math.max(...widths) <= 6, `${lab}: ${Math.max(...widths)} columns`)
    }
  })

  it('should say by how much a server takes less than the raw socket', () => {
    const one = result('front')
    for (const row of one.rows.filter(({ contender, metric }) => contender === 'kone' && metric === 'cpu')) row.median -= 20
    assert.match(page('front', [one]), /\n\| kone 1\.2\.3 \| 0\.700 \| -61\.4 \|/)
  })

  it('should say which column a table divides by a contender, and all connections of its servers', () => {
    assert.match(page('battle', [result('battle')]), /\| saturated \| 30,000\/s ÷ koa \|/)
    const one = result('front')
    for (const row of one.rows.filter(({ contender }) => contender === 'koa')) row.connections = 5
    assert.match(page('front', [one]), /\n## Hello: wrk, 5 or 50 connections\n/)
  })

  it('should name other headers though the comparison has another name, and no remark of a server without a row', () => {
    const headers = ['+etag: "a"']
    const battle = result('battle')
    battle.derived.responses.push(...['express', 'h2o'].map(contender => ({ workload: 'hello', contender, headers })))
    battle.derived.remarks.push({ workload: 'hello', contender: 'h2o', remark: 'by 7 processes' })
    assert.doesNotMatch(page('battle', [battle]), /by 7 processes/)
    assert.match(page('battle', [battle]), /\n- hello: headers of express: \+etag: "a"\n[^]*\n- headers of express: \+etag: "a"\n/)
    const mw = result('mw')
    mw.derived.responses.push({ workload: 'static alone', contender: 'kone', headers })
    assert.match(page('mw', [mw]), /\n- static alone: headers of kone: \+etag: "a"\n/)
  })

  it('should have what kone takes from the disk, beside koa-static, in the first table', () => {
    assert.match(page('static', [result('static')]), /\n\| 13 B, 64 connections, kone from the disk \| – \| 20\.7 \| – \| 67\.3 \|/)
  })

  it('should say how long rounds are, and that the servers of versions run on other versions of Node', () => {
    const one = result('front')
    one.rows.forEach((row, i) => { row.seconds = 1 + i % 3 })
    assert.match(page('front', [one]), /\n\| Rounds \| 8, of 1, 2 or 3 s \|\n/)
    assert.match(page('front', [result('front')]), /\n\| Rounds \| 8 \|\n/)
    assert.match(page('versions', [result('versions')]), /\n\nThe lab on Node 26\.1\.0, commit /)
  })

  it('should warn of a quick run', () => {
    const quick = result('battle')
    quick.derived.quick = true
    assert.match(page('battle', [quick]), /this is a quick run, for a first look\. It is not a result\./)
  })

  it('should say where its figures come from, with their age, if that is known', () => {
    const [ages, OF] = [{ [`${'a'.repeat(40)}`]: 41, [`${'b'.repeat(40)}`]: 1 }, 'Node 26.1.0, commit `aaaaaaaaa` of 2026-11-22']
    const of = more => page('battle', [result('battle'), result('battle', { node: 20, hash: 'b'.repeat(40) })], more)
    const known = of({ age: hash => ages[hash] })
    assert.ok(known.includes(`\n\n${OF}, 41 commits of lib ago.\n`))
    assert.ok(known.includes(`\n\n${OF}, 41 commits of lib ago; Node 20.1.0, commit \`bbbbbbbbb\` of 2026-11-22, 1 commit of lib ago.\n`))
    assert.ok(of().includes(`\n\n${OF}.\n`))
    const svg = made([result('battle')], { age: () => 41 }).files.get('docs/reports/charts/battle-light.svg')
    assert.match(svg.replace(/\n<text[^>]*>|<\/text>/g, ' '), /rounds?,? .*Node 26\.1\.0, commit aaaaaaaaa of 2026-11-22/s)
  })

  it('should name what was left out, what was rejected, where the generator was the limit, and the machine', () => {
    const one = result('battle')
    one.skipped.push({ part: 'cluster, wrk', reason: 'no time left' })
    one.rejected.push({ workload: 'pm2', contender: 'koa', reason: 'it ended' })
    one.derived.remarks.push({ workload: 'hello, wrk', contender: 'kone', remark: 'the load generator was the limit (server busy 80 %)' })
    const text = page('battle', [one])
    for (const line of ['- Not measured: h2o. apt-get install h2o', '- Not measured: cluster, wrk: no time left.', '- Rejected: koa in “pm2”: it ended.',
      '- the load generator was the limit: kone (server busy 80 %)', 'AMD EPYC, 2 cores, Linux 6.18.44', 'taken by other processes 2.0 %']) {
      assert.ok(text.includes(line), line)
    }
    const both = page('battle', [result('battle'), { ...one, node: 'v24.1.0' }])
    assert.ok(both.includes('- Node 24.1.0: Rejected: koa in “pm2”: it ended.'), 'on which Node, also if it is not the newest')
  })

  it('should take the newest result of a version of Node, and a quick one only where there is no other', () => {
    const newer = { ...result('front', { date: '2027-01-01T00:00:00.000Z' }), commit: { hash: 'b'.repeat(40), dirty: true } }
    assert.match(page('front', [newer, result('front')]), /`bbbbbbbbb` with changes/)
    newer.derived.quick = true
    assert.match(page('front', [newer, result('front')]), /`aaaaaaaaa`/)
  })

  it('should show the rates of battle where they were measured', () => {
    const one = result('battle')
    assert.match(page('battle', [one]), /## At a fixed rate, CPU µs\/request\n\n\| \| 30,000\/s \| saturated \|/)
    assert.match(page('battle', [one]), /## Latency at a fixed rate, ms\n\n.*\n\n\| \| p50, 30,000\/s \| p99, 30,000\/s \| p99\.9, 30,000\/s \|/)
    one.rows = one.rows.filter(({ workload }) => !workload.endsWith('requests/s'))
    assert.doesNotMatch(page('battle', [one]), /## (At|Latency at) a fixed rate/)
  })
})

describe('the index of the reports', () => {
  const index = more => made(LABS.map(lab => result(lab)), more).files.get('docs/reports/README.md')

  it('should open with what kone is and is not cheaper at, in ten lines at most', () => {
    const [, what, table] = index().split('\n\n')
    assert.match(what, /^In how many comparisons kone takes less than another server of the same run: CPU time, memory or latency/)
    assert.ok(table.split('\n').length <= 10)
    assert.match(table, /\n\| Koa 2 \| \d+ \| 0 \| 0 \|\n/)
    assert.match(made([result('static', { cost: 90 })]).files.get('docs/reports/README.md'), /\n\| nginx \|.* \| [1-9]\d* \|\n[^]*\n## Where kone takes more\n[^]*\n\| nginx \| static: /)
  })

  it('should count the pages with a report of other years, and name only versions of Node that it compares on', () => {
    assert.match(index(), /\. 5 labs set our figures beside reports/)
    const results = [result('front'), result('versions', { node: 20 })]
    assert.match(made(results).files.get('docs/reports/README.md'), /on the newest Node that was measured \(26\)\./)
  })

  it('should count latencies', () => {
    const one = result('battle')
    for (const row of one.rows.filter(({ contender, metric }) => contender === 'kone' && metric === 'p99')) row.rounds = row.rounds.map(value => value * 3)
    const text = made([one]).files.get('docs/reports/README.md')
    assert.match(text, /by hand \|.* \| 1 \|\n[^]*\| `node:http` by hand \| battle: hello, 30,000 requests\/s, p99 \| 1\.50\s/)
  })

  it('should count clusters where one process cannot hold the connections', () => {
    const one = result('connections')
    const isOne = ({ workload, contender }) => workload.endsWith(' 50,000 connections') && ['kone', 'node'].includes(contender)
    const lines = rows => made([{ ...one, rows }]).files.get('docs/reports/README.md').split('\n').filter(line => /nginx|by hand/.test(line))
    assert.deepEqual(lines(one.rows.filter(row => !isOne(row))), lines(one.rows))
  })

  it('should count the newest Node of versions, beside the others on the same', () => {
    const one = result('versions')
    for (const row of one.rows.filter(({ contender }) => contender === 'kone-26')) row.rounds = row.rounds.map(value => value * 2.5)
    const text = made([one]).files.get('docs/reports/README.md')
    assert.match(text, /newest Node that was measured \(26\)\.\n/)
    assert.match(text, /\n\| Koa 2 \| 2 \| 0 \| 0 \|/)
    assert.match(text, /by hand \| 0 \| 0 \| 2 \|\n[^]*\| `node:http` by hand \| versions: close \| 1\.25\s.*\n\| \| versions: keep-alive \| 1\.25\s/)
    assert.doesNotMatch(text, /any other server/)
  })

  it('should hold no aim', () => {
    const all = [...made(LABS.map(lab => result(lab))).files].filter(([name]) => name.endsWith('.md')).map(([, text]) => text).join()
    assert.doesNotMatch(all, /Target missed|targets|aimed|MISSED/)
  })
})

describe('what README.md and the first page of the documentation say', () => {
  const HOME = '---\nhero:\n  # measured\n  old: 1\n  # /measured\n---\n<!-- table -->\nold\n<!-- /table -->\n'
  const [dropin, battle, mw] = ['dropin', 'battle', 'mw'].map(lab => result(lab))
  const rows = (one, of) => ({ ...one, rows: one.rows.map(row => ({ ...row, ...of(row) })) })
  const times = (one, contender, factor, of = () => true) => rows(one, row =>
    row.contender === contender && of(row) && { median: row.median * factor, rounds: row.rounds.map(value => value * factor) })
  const named = (one, from, to) => rows(one, ({ workload }) => workload === from && { workload: to })
  const pages = (results, more) => {
    const { files } = made(results, { home: HOME, ...more })
    return ['README.md', 'docs/index.md'].map(name => files.get(name))
  }
  const lines = text => text.split('\n').filter(line => line.startsWith('| ')).slice(2)

  it('should begin with the same sentence: with a figure in words only while the median says so', () => {
    const WHAT = 'A web framework for Node with Koa 2’s API, on an HTTP/1.1 server of its own'
    for (const [factor, share] of [[1, '32 %'], [1.45, 'about half'], [1.7, 'about half'], [1.8, '57 %']]) {
      const [readme, home] = pages([times(battle, 'kone', factor, ({ metric }) => metric === 'cpu')])
      const how = `uns unmodified Koa apps and middleware, at ${share} of Koa’s CPU time per request (median).`
      assert.ok(readme.includes(`**${WHAT}: r${how}**`), readme)
      assert.ok(home.includes(`\n  text: "${WHAT}"\n  tagline: "R${how}"\n`), home)
      assert.doesNotMatch(readme + home, /old|undefined|NaN/)
    }
    for (const text of pages([])) assert.match(text, /runs unmodified Koa apps and middleware\.[^]*No result of this code is committed: `make battle`/i)
  })

  it('should have an API, the worst whole framework, the set, and nginx as soon as it is measured, with a link each', () => {
    const two = ['egg', 'strapi'].reduce((one, name, i) => named(one, ['page', 'pm2'][i], name), dropin)
    const whole = times(two, 'kone', 3.15, ({ workload }) => workload === 'egg')
    const API = ['an API of koa-helmet, @koa/cors, koa-bodyparser, @koa/router', 'dropin', '63.1', '20.7', '0.33']
    const EGG = ['the worst of 2 whole frameworks: Egg 3', 'dropin', '63.1', '65.2', '1.03']
    const SET = ['a site, with kone’s middleware in place of 11 packages', 'mw', '64.2', '20.7', '0.32']
    const NGINX = ['hello world behind nginx with its defaults', 'battle', '63.1', '20.7', '0.33']
    const behind = named(battle, 'cluster, wrk', 'nginx with its defaults')
    for (const [results, expected] of [[[battle, whole, mw], [API, EGG, SET]], [[behind, dropin, mw], [API, SET, NGINX]]]) {
      for (const [i, text] of pages(results).entries()) {
        const found = lines(text).map(line => line.split(' | ').map(cell => cell.replace(/^\| | \|$/g, '')))
        assert.deepEqual(found.map(([, ...figures]) => figures), expected.map(([, , ...figures]) => figures))
        assert.deepEqual(found.map(([what]) => what), expected.map(([what, lab]) => `[${what}](${['docs/', ''][i]}reports/${lab}.md)`))
        for (const [, koa, kone, ratio] of found) assert.ok(Math.abs(kone / koa - ratio) < 0.01, 'the figures divide')
      }
    }
  })

  it('should say where kone loses, link to all results, and leave spread, commit and Node to their pages', () => {
    const worse = times(battle, 'kone', 4, ({ workload, metric }) => metric === 'cpu' && workload === 'hello, wrk')
    const [readme] = pages([worse, dropin, mw])
    assert.match(readme, /\[all results\]\(docs\/reports\/README\.md\)/)
    assert.match(readme, /\(docs\/reports\/README\.md#where-kone-takes-more\)\*\* in CPU time, memory or latency: to Koa 2 in 1 of \d+ comparisons \(hello, wrk: 1\.\d+\), to `node:http` by hand in \d+ of/)
    assert.match(pages([dropin])[0], /: to Koa 2 in none of \d+ comparisons, to/)
    assert.doesNotMatch(readme, /Node 26|aaaaaaaaa|ago|\(0\.|<picture>/)
    assert.match(pages([{ ...dropin, derived: { ...dropin.derived, quick: true } }])[0], /A quick run, not a result/)
  })

  it('should leave out what is of code before 90 commits of lib', () => {
    const age = hash => hash.startsWith('b') ? 91 : 90
    const old = one => ({ ...times(one, 'kone', 4), commit: { hash: 'b'.repeat(40) } })
    for (const text of pages([old(mw), dropin], { age })) {
      assert.match(text, /at 3\d % of Koa/)
      assert.deepEqual([lines(text).length, /mw/.test(text)], [1, false])
    }
    for (const text of pages([old(mw), old(dropin)], { age })) assert.doesNotMatch(text, /÷|undefined|NaN| at /)
  })

  it('should be made again of the ages that the index of the reports has', () => {
    const age = hash => hash.startsWith('a') ? 12 : null
    const { files } = made([battle, { ...dropin, commit: { hash: 'b'.repeat(40) } }], { age })
    const again = agesOf(files.get('docs/reports/README.md'))
    assert.deepEqual(['a', 'b'].map(letter => again(letter.repeat(40))), [12, null])
  })

  it('should have the cost of each middleware that was measured, above a handler alone, and nothing below 0', () => {
    const SET = '<!-- measured -->\n<!-- /measured -->\n| [session](a) | b | 1.2 |\n| [static](a) | b | – |\n| [rpc](a) | b | 0.0 |\n'
    const one = times(result('mw'), 'kone', 1)
    for (const row of one.rows.filter(({ workload }) => workload === 'session alone')) row.rounds = row.rounds.map(value => value + 2.5)
    for (const row of one.rows.filter(({ workload }) => workload === 'static alone')) row.rounds = row.rounds.map(value => value - 3)
    const text = made([one], { set: SET }).files.get('middleware/README.md')
    assert.match(text, /\[mw\]\(\.\.\/docs\/reports\/mw\.md\): Node 26\.1\.0, commit `aaaaaaaaa` of 2026-11-22; AMD EPYC, 2 cores\./)
    assert.deepEqual(text.split('\n').slice(3, 6), ['| [session](a) | b | 2.5 |', '| [static](a) | b | 0.0 |', '| [rpc](a) | b | – |'])
  })
})

describe('a claim', () => {
  const spread = max => ({ median: max - 0.1, min: max - 0.2, max })
  const found = max => [{ lab: 'battle', says: 'hello ÷ Koa', on: 26, spread: spread(max) }]
  const NAME = 'battle: hello ÷ Koa'

  it('should be what every round supports, rounded up to twentieths', () => {
    assert.deepEqual(updated(found(0.62), {}), { claims: { [NAME]: { 26: 0.65 } }, broken: [] })
    assert.equal(updated(found(0.65), {}).claims[NAME][26], 0.65)
    assert.equal(updated(found(1.21), {}).claims[NAME][26], 1.25)
  })

  it('should follow a result, unless every round of it contradicts', () => {
    const kept = { [NAME]: { 26: 0.65 } }
    for (const [worst, claim] of [[0.5, 0.5], [0.64, 0.65], [0.71, 0.75], [0.85, 0.85]]) {
      assert.deepEqual(updated(found(worst), kept), { claims: { [NAME]: { 26: claim } }, broken: [] })
    }
    const { claims, broken } = updated(found(0.91), kept)
    assert.equal(claims[NAME][26], 0.65)
    assert.deepEqual(broken, ['battle: hello ÷ Koa, Node 26: claimed at most 0.65, the best round is 0.71'])
    assert.deepEqual(updated(found(0.91), kept, { accept: true }), { claims: { [NAME]: { 26: 0.95 } }, broken: [] })
  })

  it('should not follow a quick run', () => {
    assert.deepEqual(updated([{ ...found(0.5)[0], isQuick: true }], {}).claims, {})
  })

  it('should be shown beside what was measured on each version of Node', () => {
    const view = { lab: 'battle', claims: [['hello ÷ Koa', 'hello', 'koa'], ['nobody', 'hello', 'nobody']] }
    const all = [26, 20].map(node => new Figures(result('battle', { node })))
    const [head, ...lines] = table(view, all, { [NAME]: { 26: 0.65 } })
    assert.deepEqual(head, ['', 'Node 26; claim', 'Node 20; claim'])
    assert.deepEqual(lines, [['hello ÷ Koa', '0.32 (0.32–0.32); ≤ 0.65', '0.32 (0.32–0.32)']])
  })

  it('should be of rows that the labs have', () => {
    for (const lab of LABS) {
      for (const [says, workload] of viewOf(lab).claims ?? []) assert.ok(says && workload, lab)
    }
  })
})

describe('a chart', () => {
  const row = { median: 10, min: 9, max: 12 }
  const bars = { title: 'kone < Koa', unit: 'µs', n: 8, bars: [{ label: 'kone', ...row }, { label: 'koa', ...row }], mark: { value: 5, label: 'raw socket 5.00' } }

  it('should say its finding, its unit, the rounds and what its error bars are', () => {
    const { light } = draw(bars)
    assert.match(light, /µs; medians of n = 8 rounds, error bars: lowest and highest round/)
    assert.match(light, /<title id="title">kone &lt; Koa<\/title>/)
  })

  it('should have kone in one colour, the raw socket as a line, and an error bar for each median', () => {
    const { light } = draw(bars)
    assert.equal(light.match(new RegExp(`<rect [^>]*fill="${THEMES.light.kone}"`, 'g')).length, 1)
    assert.match(light, /stroke-dasharray="4 3"[^]*raw socket 5\.00/)
    assert.equal(light.match(/<path d="M[\d.]+ [\d.]+H[\d.]+M/g).length, 2)
  })

  it('should break a title that is wider than the picture, and move the plot', () => {
    const title = 'A finding that has more to say than one line holds'.repeat(4)
    const [whole, short] = [draw({ ...bars, title }), draw(bars)].map(({ light }) => light)
    const written = [...whole.matchAll(/font-size="15"[^>]*>([^<]*)</g)].map(([, line]) => line)
    assert.equal(written.join(' '), title)
    for (const line of written) assert.ok(line.length < 95, line)
    const height = svg => Number(/ height="(\d+)"/.exec(svg)[1])
    assert.equal(height(whole) - height(short), Number(/translate\(0 (\d+)\)/.exec(whole)[1]))
  })

  it('should be readable: text has a contrast of 4.5 to its paper at least, bars of 3', () => {
    for (const { paper, ink, dim, kone, other } of Object.values(THEMES)) {
      for (const color of [ink, dim]) assert.ok(contrast(paper, color) >= 4.5, color)
      for (const color of [kone, other]) assert.ok(contrast(paper, color) >= 3, color)
    }
  })

  function contrast (...colors) {
    const [a, b] = colors.map(color => {
      const [r, g, b] = color.match(/\w\w/g).map(hex => parseInt(hex, 16) / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
      return 0.2126 * r + 0.7152 * g + 0.0722 * b
    }).sort((a, b) => b - a)
    return (a + 0.05) / (b + 0.05)
  }
})

describe('make report', () => {
  const folder = t => {
    const made = fs.mkdtempSync(path.join(os.tmpdir(), 'kone-report-'))
    t.after(() => fs.rmSync(made, { recursive: true }))
    return made
  }
  const report = (...args) => spawnSync(process.execPath, [REPORT, ...args], { encoding: 'utf8' })

  it('should write README and pages of the results of a folder into another, and remove pages and charts of an earlier report', t => {
    const [from, to] = [folder(t), folder(t)]
    fs.writeFileSync(path.join(from, 'battle.json'), stringify(result('battle')))
    fs.writeFileSync(path.join(from, 'broken.json'), '{')
    fs.mkdirSync(path.join(to, 'docs/reports/charts'), { recursive: true })
    for (const name of ['charts/old-dark.svg', 'old.md']) fs.writeFileSync(path.join(to, 'docs/reports', name), '')
    const { status, stdout, stderr } = report('--from', from, '--to', to)
    assert.equal(status, 0, stderr)
    assert.match(stderr, /^broken\.json is left out: it is not JSON/)
    assert.match(stdout, /files of 1 results/)
    assert.match(fs.readFileSync(path.join(to, 'README.md'), 'utf8'), /No result of this code|# kone/)
    assert.deepEqual(fs.readdirSync(path.join(to, 'docs/reports/charts')).sort(), ['battle-dark.svg', 'battle-light.svg'])
    assert.ok(!fs.existsSync(path.join(to, 'docs/reports/old.md')))
  })

  it('should refuse unknown options, a folder that is missing, and a README without its markers', t => {
    assert.match(report('--form', 'x').stderr, /^report: unknown flag --form: did you mean --from\? \(see benchmarks\/README\.md\)/)
    assert.match(report('--from', '/nowhere').stderr, /--from: there is no folder \/nowhere/)
    assert.throws(() => made([], { readme: '<!-- chart -->' }), { message: 'README.md must have <!-- headline --> and <!-- /headline -->' })
  })
})

describe('the file of a result', () => {
  it('should have a row on a line, and become the same result again', () => {
    const one = result('battle')
    const text = stringify(one)
    assert.equal(text.split('\n').filter(line => line.includes('"rounds":[')).length, one.rows.length)
    assert.doesNotMatch(text, /"median"/)
    assert.deepEqual(parse(text), one)
  })
})
