import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'

const require = createRequire(import.meta.url)
const { commonJS, program } = require('./program')
const { parse } = require('./exchanges')

/**
 * How Markdown that is written for a repository becomes pages of a site:
 *
 * - a link to a file goes to that file's page;
 * - headings have GitHub's anchors;
 * - the copy button of a block copies a program that runs, and a block that imports something has a tab for CommonJS;
 * - a drawing is a part of the page, and of a picture in light and dark one is shown, by the page's theme.
 *
 * @param {{ root: string, rewrites: object, repository?: string }} options
 * @return {object} `markdown` of VitePress' configuration
 */
export default function markdown ({ root, rewrites, repository }) {
  const rules = Object.entries(rewrites).map(([from, to]) => ({
    pattern: new RegExp(`^${from.replaceAll('.', '\\.').replace(':rest(\\.*)', '(.*)').replace(':name', '([^/]+)')}$`),
    to: to.replace(/:\w+/, '$1')
  }))

  // The page of a file of the repository, or undefined.
  function pageOf (file) {
    const rule = file.endsWith('.md') && rules.find(({ pattern }) => pattern.test(file))
    return rule && fs.existsSync(path.join(root, file)) ? `/${file.replace(rule.pattern, rule.to)}` : undefined
  }

  function resolve (href, env) {
    if (/^(?:\w+:|#|\/)/.test(href)) return href
    const [target, anchor] = href.split('#')
    const file = path.relative(root, path.resolve(path.dirname(env.realPath || env.path), target))
    const page = pageOf(file)
    if (page) return anchor ? `${page}#${anchor}` : page
    if (!fs.existsSync(path.join(root, file))) throw new Error(`${env.path}: ${href} does not exist`)
    return repository && `${repository}/blob/main/${file}`
  }

  return {
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-default' },
    anchor: { slugify: anchorOf },
    codeCopyButtonTitle: 'Copy',
    config (md) {
      md.core.ruler.push('links', state => {
        for (const { children } of state.tokens) {
          const unlinked = []
          for (const token of children || []) {
            if (token.type === 'code_inline') token.attrSet('v-pre', '') // Vue would evaluate `{{ name }}`
            if (token.type === 'link_open') {
              const href = resolve(token.attrGet('href'), state.env)
              unlinked.push(!href)
              if (href) token.attrSet('href', href)
              else Object.assign(token, { type: 'text', content: '', nesting: 0 })
            } else if (token.type === 'link_close' && unlinked.pop()) {
              Object.assign(token, { type: 'text', content: '', nesting: 0 })
            }
          }
        }
      })
      drawings(md)
      pictures(md)
      tables(md)
      blocks(md)
    }
  }
}

// GitHub's.
const anchorOf = text => text.trim().toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, '').replaceAll(' ', '-')

// The colours of a drawing are the page's: its own style is for those who open the file alone.
function drawings (md) {
  const image = md.renderer.rules.image
  md.renderer.rules.image = (tokens, i, options, env, self) => {
    const src = tokens[i].attrGet('src')
    if (!/\bdrawings\/[\w-]+\.svg$/.test(src)) return image(tokens, i, options, env, self)
    const svg = fs.readFileSync(path.resolve(path.dirname(env.realPath || env.path), src), 'utf8')
    return svg.replace(/<style>[\s\S]*?<\/style>/, '')
      .replace(/(<title [^>]*>)[^<]*/, (all, tag) => tag + md.utils.escapeHtml(tokens[i].content))
      .replace('<svg ', '<svg v-pre ').replaceAll(/\n\s*/g, ' ')
  }
}

// The theme of a page is its reader's choice, which the media query of a <picture> does not know.
function pictures (md) {
  const dark = /<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">/
  const html = md.renderer.rules.html_block
  md.renderer.rules.html_block = (...args) => html(...args).replaceAll(/<picture>[\s\S]*?<\/picture>/g, picture => {
    const [, source] = dark.exec(picture) || []
    const image = /<img [^>]+>/.exec(picture)?.[0]
    if (!source || !image) return picture
    const { path: page, realPath = page } = args[3]
    const sized = image.replace('<img ', `<img ${sizeOf(path.resolve(path.dirname(realPath), source))} `)
    // On a phone its text stays readable, because it scrolls instead of shrinking.
    return '<div class="scrolls" tabindex="0" role="region" aria-label="Chart">' +
      sized.replace('<img ', '<img class="in-light" ') +
      sized.replace('<img ', '<img class="in-dark" ').replace(/src="[^"]+"/, () => `src="${source}"`) +
      '</div>'
  })
}

// Attributes of a picture: with them the text below it stays where it is while the picture loads.
function sizeOf (file) {
  const [, width, height] = /^<svg [^>]*?\bwidth="(\d+)" height="(\d+)"/.exec(fs.readFileSync(file, 'utf8'))
  return `width="${width}" height="${height}"`
}

// A wide table scrolls by itself; a keyboard reaches it. One with a column of figures has narrow columns. Any other,
// and one that is wider than a phone, is a list there, whose cells have the names of their columns.
function tables (md) {
  let isInTable = false
  md.renderer.rules.table_open = (tokens, i) => {
    const end = tokens.findIndex((token, j) => j > i && token.type === 'thead_close')
    const isNumeric = tokens.slice(i, end).some(token => /text-align:right/.test(token.attrGet('style')))
    const isWide = widthOf(tokens, i) > PHONE
    if (!isNumeric || isWide) named(tokens, i, end)
    isInTable = true
    return `<div class="table ${isNumeric ? 'figures' : 'list'}${isNumeric && isWide ? ' wide' : ''}" tabindex="0" role="region" aria-label="Table"><table>\n`
  }
  md.renderer.rules.table_close = () => {
    isInTable = false
    return '</table></div>\n'
  }

  // Long code in a cell is broken at its punctuation, not inside of a name.
  const code = md.renderer.rules.code_inline
  md.renderer.rules.code_inline = (tokens, i, options, env, self) => {
    const html = code(tokens, i, options, env, self)
    const { content } = tokens[i]
    if (!isInTable || content.length < LONG_CODE) return html
    const parts = content.split(/(?<=[,/({|:])(?!$)|(?<=\w)(?=\.\w)/)
    return html.replace('<code', content.length < SENTENCE ? '<code' : '<code class="sentence"')
      .replace(md.utils.escapeHtml(content), () => parts.map(md.utils.escapeHtml).join('<wbr>'))
  }
}

// What the columns behind the first one need, if only their headings are broken.
function widthOf (tokens, begin) {
  const widths = []
  let column = 0
  for (let i = begin; tokens[i].type !== 'table_close'; i++) {
    if (tokens[i].type === 'tr_open') column = 0
    if (tokens[i].type !== 'td_open' && tokens[i].type !== 'th_open') continue
    const { content } = tokens[i + 1]
    const text = tokens[i].type === 'th_open' ? content.split(' ') : [content]
    widths[column] = Math.max(widths[column] ?? 0, ...text.map(({ length }) => length))
    column++
  }
  return widths.slice(1).reduce((sum, length) => sum + length * 7.5 + 16, 0)
}

function named (tokens, begin, end) {
  const names = tokens.slice(begin, end).filter((token, i, head) => head[i - 1]?.type === 'th_open').map(({ content }) => content)
  let column = 0
  for (const token of tokens.slice(end, tokens.findIndex((token, i) => i > end && token.type === 'table_close'))) {
    if (token.type === 'tr_open') column = 0
    if (token.type === 'td_open') token.attrSet('data-name', names[column++].replaceAll('`', ''))
  }
}

const PHONE = 200 // px beside the first column
const LONG_CODE = 18 // characters
const SENTENCE = 26

function blocks (md) {
  const fence = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, i, options, env, self) => {
    const token = tokens[i]
    const language = token.info.trim()
    const [, file] = /<!-- file: (.+?) -->/.exec(tokens[i - 1]?.content) || []
    const label = file && `<span class="lang">${md.utils.escapeHtml(file)}</span>`
    const rendered = content => {
      const copy = tokens.with(i, Object.assign(Object.create(Object.getPrototypeOf(token)), token, { content }))
      return fence(copy, i, options, env, self).replace(/<span class="lang">.*?<\/span>/, name => label || name)
    }
    if (language === 'http') return exchanges(token.content, md)
    if (language !== 'js' || file || /<!-- from:/.test(tokens[i - 1]?.content)) return rendered(token.content)
    const next = tokens[i + 1]?.type === 'fence' && tokens[i + 1].info.trim() === 'http' ? tokens[i + 1].content : ''
    const whole = code => {
      const { text, completed } = program(code, parse(next).map(({ request }) => request))
      if (!completed && !next) return rendered(code)
      // VitePress copies the element behind the language's name.
      return rendered(code).replace('title="Copy"', 'title="Copy a program that runs"')
        .replace('<pre', `<pre hidden class="program" v-pre>${md.utils.escapeHtml(text)}</pre><pre`)
    }
    const other = commonJS(token.content)
    return other === null ? whole(token.content) : tabs(i, { 'ES modules': whole(token.content), CommonJS: whole(other) })
  }
}

// As the theme makes a code group; the search leaves out what is between the comments.
function tabs (id, blocks) {
  const names = Object.keys(blocks)
  const labels = names.map((name, i) => `<input type="radio" name="group-${id}" id="tab-${id}-${i}"${i ? '' : ' checked'}>` +
    `<label data-title="${name}" for="tab-${id}-${i}">${name}</label>`)
  const [first, second] = Object.values(blocks)
  return `<div class="vp-code-group vp-adaptive-theme"><div class="tabs">${labels.join('')}</div><div class="blocks">\n` +
    `${first.replace('class="language-js', 'class="language-js active')}<!-- other -->${second}<!-- /other --></div></div>\n`
}

// Requests, and the responses to them.
function exchanges (text, md) {
  const lines = text.trimEnd().split('\n').map(line => {
    const text = md.utils.escapeHtml(line.slice(2))
    if (!text) return ''
    return line.startsWith('>')
      ? `<span class="request"><span class="side">→</span> ${text}</span>`
      : `<span class="response"><span class="side">←</span> ${text}</span>`
  })
  return '<div class="exchange" role="group" aria-label="Requests and responses">' +
    `<pre v-pre tabindex="0"><code>${lines.join('\n')}</code></pre></div>\n`
}
