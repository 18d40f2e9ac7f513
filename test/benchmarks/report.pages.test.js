'use strict'

const assert = require('node:assert/strict')
const path = require('node:path')
const { describe, it } = require('node:test')
const { LABS, generate, timeless } = require('../../benchmarks/lib/report/generate')
const { fault } = require('../../benchmarks/lib/report/committed')
const { rowOf } = require('../../benchmarks/lib/run/result')
const { pairedRatio } = require('../../benchmarks/lib/run/stats')
const { NAMES, result } = require('./fixtures/labs')

const README = '# kone\n<!-- chart -->\n<!-- /chart -->\n<!-- set -->\nold\n<!-- /set -->\n<!-- dropin -->\n<!-- /dropin -->\nend\n'
const plain = text => text.replaceAll('\u00a0', ' ').replaceAll('\u2060', '')

// What is generated, without what keeps a figure and its spread on one line.
function made (results, more) {
  const { files, notes } = generate({ results, readme: README, history: [], ...more })
  return { files: new Map([...files].map(([name, text]) => [name, plain(text)])), notes }
}

const pageOf = (results, lab, more) => made(results, more).files.get(`docs/reports/${lab}.md`)

describe('the pages of docs/reports', () => {
  const all = NAMES.map(lab => result(lab))

  it('should be made of results that are sound', () => {
    assert.deepEqual([...NAMES].sort(), [...LABS].sort())
    for (const one of all) assert.equal(fault(one), null, one.lab)
  })

  for (const [title, results] of [['none', []], ['all', all], ...NAMES.map(lab => [lab, [result(lab)]])]) {
    it(`should be whole with the results of: ${title}`, () => {
      const { files } = made(results)
      for (const lab of LABS) {
        const text = files.get(`docs/reports/${lab}.md`)
        assert.match(text, /^# \S/)
        const isThere = results.some(one => one.lab === lab)
        assert.equal(/No result of this lab is committed\. To get one: `make /.test(text), !isThere, lab)
        assert.equal(text.includes('## Not supported'), isThere, lab)
      }
      for (const [name, text] of files) {
        assert.doesNotMatch(text, /undefined|NaN|Infinity|\[object|(?<!dev\/)null\b(?!,)/, name)
        if (name.endsWith('.md')) for (const target of links(text)) assert.ok(files.has(path.posix.join(path.posix.dirname(name), target)), `${name}: ${target}`)
      }
    })
  }

  const links = text => [...text.matchAll(/(?:src(?:set)?="|\]\()(\.\/(?:charts\/)?[\w-]+\.(?:svg|md))/g)].map(([, target]) => target)

  it('should be the same text for the same results', () => {
    assert.deepEqual([...made(all).files], [...made([...all].reverse()).files])
  })

  it('should tell the commit, the machine, the rounds, the version of Node and the command', () => {
    for (const lab of LABS) {
      const text = pageOf(all, lab)
      assert.match(text, /\| Commit \| `aaaaaaaaa` \|/, lab)
      assert.match(text, /\| Machine \| AMD EPYC, 2 cores, Linux 6\.18\.44 \|/, lab)
      assert.match(text, /\| Rounds \| 8 \|/, lab)
      assert.match(text, new RegExp(`\\| Command \\| \`node benchmarks/labs/${lab}\` \\|`))
      assert.match(text, lab === 'versions' ? /\| all versions of Node \|/ : /\| Node 26\.1\.0 \|/)
      assert.match(text, /load average 0\.50, stolen by the hypervisor 0\.1 %/)
      assert.match(text, /wrk 4\.20 µs of CPU for a request, 90,000 requests\/s; rpc it ended/)
    }
  })

  it('should begin with what is not supported', () => {
    const good = pageOf([result('battle')], 'battle')
    assert.match(good, /## Not supported\n\n- Not measured on Node 20, for which no result is committed/)
    const bad = pageOf([result('battle', { cost: 39 })], 'battle')
    const [, section] = /## Not supported\n\n([\s\S]*?)\n\n## /.exec(bad)
    assert.match(section, /^- hello world behind five middleware ÷ a bare node:http handler: claimed at most \d\.\d+ on Node 26, measured 0\.97 \(/)
    assert.ok(bad.indexOf(section) < bad.indexOf('## How it was measured'))
    assert.match(made([result('battle', { cost: 39 })]).files.get('docs/reports/README.md'), /## Not supported\n\n- \[battle\]\(\.\/battle\.md\), Node 26: hello/)
  })

  it('should list targets that were missed', () => {
    const missed = result('soak')
    missed.derived.targets = [{ what: 'kone', target: 1.2, median: 1.5, min: 1.1, max: 1.6 }, { what: 'koa', target: 1.2, median: 1 }]
    assert.match(pageOf([missed], 'soak'), /Target missed: kone: at most 1\.2, measured 1\.50 \(1\.10–1\.60\)/)
    assert.doesNotMatch(pageOf([missed], 'soak'), /Target missed: koa/)
    const both = result('battle', { cost: 39 })
    both.derived.targets = [{ what: 'hello ÷ node', target: 0.9, ...pairedRatio(rowOf(both, 'hello, wrk', 'kone').rounds, rowOf(both, 'hello, wrk', 'node').rounds) }]
    assert.doesNotMatch(pageOf([both], 'battle'), /Target missed/, 'a claim says it already')
  })

  it('should warn of a lib/ that has changed since, apart from what is compared', () => {
    const [fresh, stale] = [false, true].map(is => pageOf(all, 'battle', { isStale: () => is }))
    assert.match(stale, /\*\*Warning:\*\* `lib\/` has changed since .*Node 26, commit `aaaaaaaaa`/)
    assert.doesNotMatch(fresh, /has changed since/)
    assert.equal(timeless(stale), fresh)
    assert.ok(made(all, { isStale: () => true }).notes.includes('battle, Node 26: lib/ has changed since it was measured'))
  })

  it('should set the newest Node as headline and the others beside it', () => {
    const text = pageOf([result('battle', { node: 20, cost: 10 }), result('battle')], 'battle')
    assert.match(text, /\| \| Node 26\.1\.0 \| Node 20\.1\.0 \|/)
    assert.match(text, /## By version of Node[\s\S]*\| 26\.1\.0 \|.*\n\| 20\.1\.0 \|/)
  })

  it('should take claims, chart, trend and README from the rows of wrk, and say so', () => {
    const one = result('battle')
    rowOf(one, 'hello', 'kone').rounds = Array(8).fill(1000)
    const { files } = made([one])
    const text = files.get('docs/reports/battle.md')
    assert.match(text, /## Not supported\n\n- Not measured on Node 20/)
    assert.match(text, /\| hello world behind five middleware ÷ a bare node:http handler \| 26 \| [\d.]+ \| 0\.50 [^|]*\| wrk \| supported \|/)
    assert.match(text, /alt="Bar chart: Hello world behind five middleware; wrk, 50 connections; /)
    assert.match(files.get('docs/reports/charts/battle-light.svg'), /Node 26; wrk, 50 connections/)
    assert.match(text, /## Measured: wrk, 50 connections[^]*## Measured: autocannon, 50 connections/)
    assert.equal(JSON.parse(files.get('docs/reports/history.json'))[0].ratios['kone ÷ node'].median, 0.5)
    const readme = files.get('README.md')
    assert.match(readme, /measured by wrk, 50 connections"/)
    assert.match(readme, /\| five middleware, hello world \| 65\.2 \| 20\.7 \| 0\.32 /)
    assert.match(readme, /commit `aaaaaaaaa`; load by wrk; medians/)
  })

  it('should set a cluster beside one process, and say that pm2 runs another app', () => {
    const one = result('battle')
    Object.assign(one.derived, { workers: 2, pm2: { instances: 2, bytes: 950 } })
    rowOf(one, 'cluster, wrk', 'kone').median = 31.05
    const [, section] = /## In a cluster\n\n([^]*?)\n\n## /.exec(pageOf([one], 'battle'))
    assert.match(section, /^Hello world in 2 workers of `node:cluster`, one for each core, by wrk, 50 connections\. /)
    assert.match(section, /\| kone 1\.2\.3 \| 31\.1 \| 20\.0–21\.4 \| 0\.50 [^|]*\| 0\.33 [^|]*\| 20\.7 \| 1\.50 \|/)
    assert.match(section, /6 processes under pm2[^]*Here are 2 of today, with an HTML page of 950 bytes[^]*It is another app than above/)
    const without = result('battle')
    without.rows = without.rows.filter(({ workload }) => workload !== 'pm2' && workload !== 'cluster, wrk')
    assert.doesNotMatch(pageOf([without], 'battle'), /In a cluster/)
  })

  it('should name the load in a chart only where all contenders had the same', () => {
    const one = result('rpc')
    assert.match(pageOf([one], 'rpc'), /alt="Bar chart: A call of ping, 50 in flight; wrk, 50 connections; server CPU/)
    const others = one.rows.filter(({ contender, generator }) => contender === 'grpc' && generator)
    for (const row of others) Object.assign(row, { connections: 5, pipeline: 10 })
    assert.match(pageOf([one], 'rpc'), /alt="Bar chart: A call of ping, 50 in flight; server CPU/)
  })

  it('should say how often very many connections were opened', () => {
    const one = result('connections')
    one.derived.openings = [{ connections: 50_000, openings: 3, each: 4 }]
    const [, few, many] = pageOf([one], 'connections').split('## Measured: ')
    assert.match(many, /^50,000 connections\n\nAll connections were opened 3 times, [^\n]* have 3 figures here, each loop 12\.\n/)
    assert.doesNotMatch(few, /were opened/)
  })

  it('should name who was left out of a level and why, and divide by the cluster of node where node was', () => {
    const one = result('connections')
    const many = '50,000 connections'
    one.rows = one.rows.filter(({ workload, contender }) => !(workload.endsWith(many) && contender === 'node'))
    const reason = 'it is one process here, and one may open 20000 files'
    one.derived.leftOut = ['node', 'go'].map(contender => ({ connections: 50_000, contender, reason }))
    const [, few, section] = pageOf([one], 'connections').split('## Measured: ')
    assert.match(few, /\| CPU ÷ node \|/)
    assert.doesNotMatch(few, /Left out/)
    assert.match(section, /\| open loop CPU µs \|.*\| CPU ÷ node-cluster \|/)
    assert.match(section, /\| node-cluster [^|]+\|.*\| 1 \|\n/)
    assert.match(section, new RegExp(`\n- Left out: node, go; ${reason}\\.\n`))
  })

  it('should say what isolation costs, and why it costs more than intended where it does', () => {
    const isolated = (node, factor) => {
      const one = result('rpc', { node })
      for (const flight of [50, 100]) {
        const [kone, unguarded] = ['kone', 'kone-unguarded'].map(name => rowOf(one, `noError, ${flight} in flight`, name))
        kone.rounds = unguarded.rounds.map((figure, i) => figure * (i === 0 ? factor : Math.min(factor, 1.2)))
      }
      return one
    }
    const section = results => /## What isolation costs\n\n([^]*?)\n\n## /.exec(pageOf(results, 'rpc'))[1]

    assert.match(section([isolated(26, 1.04)]), /It costs at most what was intended, in every round\.$/)
    const twenty = section([isolated(20, 1.2)])
    assert.match(twenty, /- noError, 50 in flight: it costs too much: 20 % more by the median, 20 % more in the worst round, intended are 10 %\./)
    assert.match(twenty, /Before Node 24 it does so by async hooks/)
    assert.doesNotMatch(twenty, /Since Node 24/)
    const both = section([isolated(20, 1.05), isolated(26, 1.3)])
    assert.match(both, /\| noError, 50 in flight, Node 20 \| 1\.05 /)
    assert.match(both, /- noError, 100 in flight, Node 26: it costs too much/)
    assert.doesNotMatch(both, /- noError, \d+ in flight, Node 20|async hooks/)
    assert.match(both, /Since Node 24 V8 carries the context itself\. What is left is/)
    const once = isolated(26, 1)
    rowOf(once, 'noError, 50 in flight', 'kone').rounds[0] *= 1.5
    assert.match(section([once]), /- noError, 50 in flight: met by the median, not in every round: 50 % more in the worst round/)
  })

  it('should set the packages of 2017 beside the report where they were measured', () => {
    assert.match(pageOf([result('battle')], 'battle'), /\| node ÷ koa \| 1\.13 \| 1\.42 \| 1\.07 \| 1\.52 \(.*\) \| 1\.57 \(/)
  })

  it('should show large files by the megabyte', () => {
    const text = pageOf([result('static')], 'static')
    assert.match(text, /## Measured: 100 MB, 4 connections\n\n\| \| MB\/s \|[^\n]*\n[^\n]*\n\| kone 1\.2\.3 \| 20\.7 \|/)
    assert.match(text, /## Measured: 10 KB\n/)
    assert.doesNotMatch(text, /## Other workloads/)
  })

  it('should show how ratios went on from commit to commit', () => {
    const first = made([result('battle', { cost: 30, hash: 'b'.repeat(40), date: '2026-10-01T12:00:00.000Z' })])
    const history = JSON.parse(first.files.get('docs/reports/history.json'))
    assert.equal(history.length, 1)
    const { files } = made([result('battle'), result('battle', { node: 20 })], { history })
    const text = files.get('docs/reports/battle.md')
    assert.match(text, /## Trend[\s\S]*\| 26 \| `bbbbbbbbb` \| 2026-10-01 \| 0\.75 [\s\S]*\| 26 \| `aaaaaaaaa` \| 2026-11-22 \| 0\.50 /)
    assert.ok(files.has('docs/reports/charts/battle-trend-dark.svg'))
    assert.equal(JSON.parse(files.get('docs/reports/history.json')).length, 3)
    assert.doesNotMatch(first.files.get('docs/reports/battle.md'), /## Trend/)
  })

  it('should keep no quick run in the history, and say of one that it is no result', () => {
    const quick = result('battle')
    quick.derived.quick = true
    const { files } = made([quick])
    assert.deepEqual(JSON.parse(files.get('docs/reports/history.json')), [])
    assert.match(files.get('docs/reports/battle.md'), /It is not a result/)
    assert.match(files.get('README.md'), /A quick run, not a result/)
  })

  it('should show every workload of a result, known or not', () => {
    const strange = result('mw')
    strange.rows.push({ ...strange.rows[0], workload: 'upload alone', contender: 'kone' })
    assert.match(pageOf([strange], 'mw'), /upload/)
    const other = result('soak')
    other.rows.push({ ...other.rows[0], workload: 'soak, TLS' })
    assert.match(pageOf([other], 'soak'), /## Other workloads\n\n\*\*soak, TLS, memory\*\*/)
  })

  it('should say who was left out', () => {
    const one = result('static')
    one.rejected.push({ workload: '13 B, 64 connections', contender: 'go', reason: '3 errors in 10 requests' })
    one.skipped.push({ part: '10 KB', reason: 'no time left' })
    const text = pageOf([one], 'static')
    assert.match(text, /- Not measured: h2o\. apt-get install h2o/)
    assert.match(text, /- Rejected: go in “13 B, 64 connections”: 3 errors in 10 requests\./)
    assert.match(text, /- Not measured: 10 KB: no time left\./)
  })
})

describe('README.md', () => {
  it('should have a chart and two tables of at most eight rows', () => {
    const { files, notes } = made(NAMES.map(lab => result(lab)))
    const text = files.get('README.md')
    assert.match(text, /<source media="\(prefers-color-scheme: dark\)" srcset="docs\/reports\/charts\/battle-dark\.svg">/)
    for (const name of ['set', 'dropin']) {
      const [, block] = new RegExp(`<!-- ${name} -->\n([\\s\\S]*?)<!-- /${name} -->`).exec(text)
      const rows = block.split('\n').filter(line => line.startsWith('| ')).length - 2
      assert.ok(rows > 4 && rows <= 8, `${name}: ${rows} rows`)
      assert.match(block, /Node 26\.1\.0, AMD EPYC, 2 cores, commit `aaaaaaaaa`/)
    }
    assert.deepEqual(notes, [])
    assert.match(text, /^# kone\n[\s\S]*\nend\n$/)
    assert.doesNotMatch(text, /old/)
  })

  it('should be filled where it has a place, with a line for each place that is missing', () => {
    const { files, notes } = made([], { readme: '<!-- set -->\n<!-- /set -->\n' })
    assert.equal(files.get('README.md'), '<!-- set -->\nNo result is committed yet: `make battle` measures on your machine.\n<!-- /set -->\n')
    assert.ok(notes.includes('README.md has no <!-- dropin -->: this part is not written'))
    assert.throws(() => made([], { readme: '<!-- set -->\n' }), /^Error: README\.md: <!-- set --> has no <!-- \/set -->$/)
  })
})
