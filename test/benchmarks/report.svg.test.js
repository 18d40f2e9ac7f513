'use strict'

const assert = require('node:assert/strict')
const { after, before, describe, it } = require('node:test')
const { generate } = require('../../benchmarks/lib/report/generate')
const { THEMES, bars, lines } = require('../../benchmarks/lib/report/svg')
const { missing, need } = require('../helpers/programs')
const { NAMES, result } = require('./fixtures/labs')

const rows = [
  { label: 'kone', median: 10, min: 9, max: 12, kind: 'ours' },
  { label: 'koa <2>', median: 20, min: 19, max: 26, kind: 'theirs' }
]
const bar = { title: 'Cost & <time>', subtitle: 'µs', unit: 'µs per request', rows }
const point = (x, median) => ({ x, median, min: median * 0.9, max: median * 1.1 })
const line = {
  title: 'Growth',
  subtitle: 'lower is better',
  unit: 'µs',
  x: { label: 'routes', log: true },
  y: { log: true },
  series: ['kone', 'koa'].map((name, i) => ({ name, points: [point(1, 10 + i), point(100, 11 + i), point(10_000, 12 + 900 * i)] }))
}

describe('a chart as a file', () => {
  it('should have a title and a description with every figure', () => {
    for (const svg of Object.values(bars(bar))) {
      assert.match(svg, /^<svg [^>]*role="img" aria-labelledby="title desc"/)
      assert.match(svg, /<title id="title">Cost &amp; &lt;time&gt;<\/title>/)
      assert.match(svg, /<desc id="desc">µs\. µs per request: kone 10\.0 \(9\.00 to 12\.0\); koa &lt;2&gt; 20\.0 \(19\.0 to 26\.0\)\.<\/desc>/)
    }
    assert.match(lines(line).dark, /<desc id="desc">.*kone: 1 10\.0, 100 11\.0, 10k 12\.0; koa: /)
  })

  it('should ask for nothing: no script, no font, no address', () => {
    for (const svg of [...Object.values(bars(bar)), ...Object.values(lines(line))]) {
      assert.doesNotMatch(svg, /<script|<style|@import|url\(|href|http(?!:\/\/www\.w3\.org\/2000\/svg)/)
    }
  })

  it('should have bars from zero, with a whisker for every row', () => {
    const { light } = bars(bar)
    const widths = [...light.matchAll(/<rect x="[\d.]+" y="\d+" width="([\d.]+)"/g)].map(([, width]) => Number(width))
    assert.equal(widths.length, 2)
    assert.ok(Math.abs(widths[1] / widths[0] - 2) < 0.01)
    assert.equal(light.match(/<path d="M/g).length, 2)
  })

  it('should give kone its colour, and no two lines the same look', () => {
    const names = ['node', 'koa', 'go', 'nginx', 'kone', 'kone-cluster', 'node-cluster', 'fastify', 'fibjs', 'hphs']
    const { light } = lines({ ...line, series: names.map(name => ({ ...line.series[0], name })) })
    const looks = [...light.matchAll(/fill="none" stroke="(#\w+)" stroke-width="(\d)"[^>]*?( stroke-dasharray[^/]*)?\/>/g)].map(([, ...look]) => look.join())
    assert.equal(looks.length, names.length)
    assert.equal(new Set(looks).size, names.length)
    assert.ok(looks[4].startsWith(THEMES.light.series[0]))
  })

  it('should not be without a label on an axis that is logarithmic and short', () => {
    const { light } = lines({ ...line, series: [{ name: 'kone', points: [point(1, 20), point(10_000, 33)] }] })
    assert.ok(light.match(/text-anchor="end">\d+</g).length >= 2)
  })

  for (const [name, theme] of Object.entries(THEMES)) {
    it(`should have enough contrast: ${name}`, () => {
      for (const text of ['ink', 'dim']) assert.ok(contrast(theme[text], theme.paper) >= 4.5, text)
      for (const shape of ['ours', 'oursToo', 'theirs']) assert.ok(contrast(theme[shape], theme.paper) >= 3, shape)
      for (const color of theme.series) assert.ok(contrast(color, theme.paper) >= 3, color)
    })
  }
})

describe('the charts in Chromium', { skip: missing('chromium') }, () => {
  let browser, page

  before(async () => {
    const { chromium } = require('playwright-core')
    browser = await chromium.launch({ executablePath: need('chromium'), args: ['--no-sandbox', '--disable-gpu'] })
    page = await browser.newPage()
  })

  after(() => browser?.close())

  const { files } = generate({ results: NAMES.map(lab => result(lab)), readme: '', history: [] })
  for (const [name, svg] of files) {
    if (!name.endsWith('-light.svg')) continue
    it(`should keep every text of ${name} inside, and none on another`, async () => {
      await page.setContent(`<body style="margin: 0">${svg}</body>`)
      const { width, height, boxes } = await page.evaluate(() => {
        const svg = document.querySelector('svg')
        const boxes = [...svg.querySelectorAll('text')].map(text => {
          const { x, y, width, height } = text.getBBox()
          return { text: text.textContent, x, y: y + 2, right: x + width, bottom: y + height - 3 }
        })
        return { width: svg.width.baseVal.value, height: svg.height.baseVal.value, boxes }
      })
      assert.ok(boxes.length > 4)
      for (const { text, x, y, right, bottom } of boxes) {
        assert.ok(x >= 0 && y >= 0 && right <= width && bottom <= height, `${text} is outside`)
      }
      for (const [i, a] of boxes.entries()) {
        for (const b of boxes.slice(i + 1)) {
          assert.ok(a.right <= b.x || b.right <= a.x || a.bottom <= b.y || b.bottom <= a.y, `“${a.text}” and “${b.text}” are on each other`)
        }
      }
    })
  }
})

// WCAG 2: (lighter + 0.05) ÷ (darker + 0.05) of the relative luminances.
function contrast (one, other) {
  const [a, b] = [one, other].map(luminance)
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
}

function luminance (color) {
  const [r, g, b] = [1, 3, 5].map(i => parseInt(color.slice(i, i + 2), 16) / 255)
    .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
