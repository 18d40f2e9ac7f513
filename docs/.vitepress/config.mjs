import fs from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitepress'
import markdown from './markdown.mjs'

const require = createRequire(import.meta.url)
const root = fileURLToPath(new URL('../..', import.meta.url))
const manifest = require('../../package.json')

// Where the repository is published: for "Edit this page". Until package.json names it, the file's name is shown.
const named = manifest.repository.url.replace(/^git\+|\.git$/g, '')
const real = url => new URL(url).hostname.endsWith('.invalid') ? undefined : url
const repository = process.env.KONE_REPOSITORY || real(named)

// Where the site is published: for the sitemap and the addresses of its pages.
const homepage = process.env.KONE_HOMEPAGE || real(manifest.homepage)
const addressOf = file => `${homepage?.replace(/\/$/, '') ?? ''}/${file.replace(/(?:(^|\/)index)?\.md$/, '$1')}`

// A file's page: the site shows Markdown of the whole repository.
const rewrites = {
  'docs/README.md': 'reference.md',
  'docs/reports/README.md': 'reports/index.md',
  'docs/:rest(.*)': ':rest',
  'middleware/README.md': 'middleware/index.md',
  'middleware/:name/README.md': 'middleware/:name.md',
  'lib/README.md': 'internals/index.md',
  'lib/front/README.md': 'internals/front.md',
  'CHANGELOG.md': 'changelog.md',
  'CONTRIBUTING.md': 'contributing.md',
  'MIGRATION.md': 'migration.md',
  'SECURITY.md': 'security.md'
}

const page = (text, link) => ({ text, link })

// The pages of a folder that exist, by their titles.
function folder (name, prefix) {
  const files = fs.existsSync(path.join(root, name)) ? fs.readdirSync(path.join(root, name)) : []
  return files.filter(file => file.endsWith('.md') && file !== 'README.md').sort()
    .map(file => page(title(path.join(root, name, file)), `${prefix}${file.slice(0, -3)}`))
}

const title = file => /^# (.+)$/m.exec(fs.readFileSync(file, 'utf8'))[1].replaceAll('`', '')

const reports = folder('docs/reports', '/reports/')
const middleware = fs.readdirSync(path.join(root, 'middleware'), { withFileTypes: true })
  .filter(entry => entry.isDirectory() && fs.existsSync(path.join(root, 'middleware', entry.name, 'README.md')))
  .map(entry => page(entry.name, `/middleware/${entry.name}`))

// A group that folds has a link: without one the theme makes a button inside a button of it.
const sidebar = [
  {
    text: 'Start here',
    items: [
      page('Getting started', '/guide/getting-started'),
      page('A site with pages and a form', '/guide/forms'),
      page('A request and its response', '/guide/concepts'),
      page('TypeScript and ES modules', '/guide/typescript'),
      page('From Koa or Express', '/migration'),
      page('Koa and kone side by side', '/api/koa'),
      page('The ecosystem', '/guide/ecosystem'),
      page('Versions and support', '/guide/support'),
      page('FAQ', '/guide/faq')
    ]
  },
  {
    text: 'Guides',
    items: [
      page('Writing middleware', '/guide/middleware'),
      page('Handling errors', '/guide/errors'),
      page('Validating requests', '/guide/validation'),
      page('Authentication', '/guide/authentication'),
      page('Files and streams', '/guide/files-and-streams'),
      page('WebSockets', '/guide/websocket'),
      page('Recipes', '/guide/recipes'),
      page('Testing', '/guide/testing'),
      page('Bundling and serverless', '/guide/bundling'),
      page('Performance', '/guide/performance'),
      page('Troubleshooting', '/guide/troubleshooting')
    ]
  },
  {
    text: 'Reference',
    items: [
      page('Overview', '/reference'),
      page('Application', '/api/application'),
      page('Context', '/api/context'),
      page('Request', '/api/request'),
      page('Response', '/api/response'),
      page('compose and final', '/api/compose-and-final'),
      page('app.fetch', '/api/fetch'),
      page('kone/client', '/api/client'),
      page('Types', '/api/typescript'),
      page('The HTTP/1.1 front', '/api/front'),
      page('The kone command', '/api/command'),
      page('kone try', '/api/try'),
      page('In Koa’s place, to try it', '/api/as-koa'),
      page('npm create kone', '/api/create')
    ]
  },
  {
    text: 'Production',
    items: [
      page('Deployment', '/api/deploy'),
      page('Cluster', '/api/cluster'),
      page('Shared state', '/api/state'),
      page('HTTPS and HTTP/2', '/api/https-http2'),
      page('Observability', '/api/observability'),
      page('Real applications', '/api/real-applications')
    ]
  },
  { text: 'Middleware', link: '/middleware/', collapsed: true, items: [page('The set', '/middleware/'), ...middleware] },
  ...(reports.length > 0 ? [{ text: 'Reports', link: '/reports/', collapsed: true, items: [page('All results', '/reports/'), ...reports] }] : []),
  {
    text: 'Project',
    link: '/contributing',
    collapsed: true,
    items: [
      page('Changelog', '/changelog'),
      page('Security', '/security'),
      page('Contributing', '/contributing'),
      page('How the code is organised', '/internals/'),
      page('Inside the HTTP/1.1 front', '/internals/front')
    ]
  }
]

// Pages outside of docs/ import Vue from the site's packages, too.
const siteModules = {
  name: 'kone:site-modules',
  enforce: 'pre',
  resolveId (id, importer, options) {
    if (!/^vue(?:\/|$)/.test(id)) return
    if (options.ssr) return { id, external: true }
    return this.resolve(id, fileURLToPath(import.meta.url), { ...options, skipSelf: true })
  }
}

export default defineConfig({
  title: 'kone',
  description: manifest.description,
  lang: 'en',
  cleanUrls: true,
  ignoreDeadLinks: 'localhostLinks',
  srcDir: root,
  srcExclude: [
    'README.md', '.*/**', 'benchmarks/**', 'cluster/**', 'command/**', 'coverage/**', 'create/**', 'docs/.vitepress/**',
    'examples/**', 'test/**', 'tools/**'
  ],
  rewrites,
  cacheDir: fileURLToPath(new URL('../node_modules/.cache/vitepress', import.meta.url)),
  outDir: fileURLToPath(new URL('dist', import.meta.url)),
  // Built once for each commit: a page's date would be the checkout's.
  lastUpdated: false,
  head: [
    ['link', { rel: 'icon', type: 'image/svg+xml', href: '/logo.svg' }],
    ['meta', { name: 'theme-color', content: '#0b6e6e' }]
  ],
  ...(homepage && { sitemap: { hostname: homepage } }),
  transformHead: ({ pageData, title, description }) => [
    ['meta', { property: 'og:type', content: 'website' }],
    ['meta', { property: 'og:site_name', content: 'kone' }],
    ['meta', { property: 'og:title', content: title }],
    ['meta', { property: 'og:description', content: pageData.description || description }],
    ...homepage ? [['meta', { property: 'og:url', content: addressOf(pageData.relativePath) }]] : []
  ],
  // A page's description is its first sentence.
  transformPageData ({ filePath, description }) {
    return { description: description || firstSentence(fs.readFileSync(path.join(root, filePath), 'utf8')) }
  },
  buildEnd ({ outDir, pages }) {
    fs.writeFileSync(path.join(outDir, 'llms.txt'), forModels(pages))
  },
  markdown: markdown({ root, rewrites, repository }),
  vite: {
    plugins: [siteModules],
    publicDir: fileURLToPath(new URL('public', import.meta.url)),
    server: { fs: { allow: [root] } },
    optimizeDeps: { entries: [] },
    build: { chunkSizeWarningLimit: 2000 }
  },
  themeConfig: {
    logo: { src: '/logo.svg', alt: '' },
    nav: [
      page('Guide', '/guide/getting-started'),
      page('Reference', '/reference'),
      page('Middleware', '/middleware/'),
      page('Performance', '/guide/performance'),
      {
        text: manifest.version,
        items: [page('Changelog', '/changelog'), page('Migration', '/migration'), page('Security', '/security')]
      }
    ],
    sidebar,
    outline: { level: [2, 3], label: 'On this page' },
    search: {
      provider: 'local',
      options: {
        _render: render,
        miniSearch: {
          // Codes are one word each. These two functions are sent to the browser.
          options: { tokenize: text => text.match(/\bKONE_\w+|[^\n\r\p{Z}\p{P}]+/gu) ?? [] },
          searchOptions: {
            fuzzy: 0.2,
            prefix: true,
            boost: { title: 4, titles: 2, text: 1 },
            // The page named `session` comes before a section of it, and the list of codes before what mentions one.
            boostDocument: (id, term, stored) =>
              term.startsWith('kone_') ? (id.includes('/troubleshooting') ? 20 : 1) : stored && stored.titles.length === 0 ? 2 : 1
          }
        }
      }
    },
    ...(repository && {
      editLink: { pattern: `${repository}/edit/main/:path`, text: 'Edit this page' },
      socialLinks: [{ icon: 'github', link: repository }]
    }),
    footer: { message: 'MIT licensed. Every example of these pages runs in a test.' },
    notFound: {
      title: 'Page not found',
      quote: 'The address may be mistyped, or the page has moved. The search above looks through all pages.',
      linkLabel: 'Home page',
      linkText: 'Home page'
    },
    docFooter: { prev: 'Before', next: 'Next' }
  }
})

// Of the first paragraph, without marks: nothing where a page has none.
function firstSentence (text) {
  const paragraph = text.replace(/^---[\s\S]*?^---$/m, '').split(/\n{2,}/).find(part => /^[\p{L}`*[]/u.test(part))
  return paragraph?.replace(/\[([^\]]+)\]\([^)]+\)/g, '$1').replace(/[`*]/g, '').replace(/\s+/g, ' ').match(/^.*?[.:](?= |$)/)?.[0]
}

// llms.txt (llmstxt.org): the pages in the order of the sidebar, each with its first sentence.
function forModels (pages) {
  const about = new Map(pages.map(file => [`/${(rewritten(file)).replace(/(?:(^|\/)index)?\.md$/, '$1')}`, file]))
  const line = ({ text, link }) => {
    const file = about.get(link)
    const sentence = file && firstSentence(fs.readFileSync(path.join(root, file), 'utf8'))
    return `- [${text}](${homepage?.replace(/\/$/, '') ?? ''}${link})${sentence ? `: ${sentence}` : ''}`
  }
  const groups = sidebar.map(({ text, items }) => `## ${text}\n\n${items.map(line).join('\n')}`)
  return `# kone\n\n> ${manifest.description}\n\n${groups.join('\n\n')}\n`
}

function rewritten (file) {
  for (const [from, to] of Object.entries(rewrites)) {
    const pattern = new RegExp(`^${from.replaceAll('.', '\\.').replace(':rest(\\.*)', '(.*)').replace(':name', '([^/]+)')}$`)
    if (pattern.test(file)) return file.replace(pattern, to.replace(/:\w+(?:\(.*\))?/, '$1'))
  }
  return file
}

// The index has a block once, not its completed copy or its other tab as well.
function render (source, env, md) {
  const html = md.render(source, env)
  return env.frontmatter?.search === false ? '' : html.replace(/<pre hidden[\s\S]*?<\/pre>|<!-- other -->[\s\S]*?<!-- \/other -->/g, '')
}
