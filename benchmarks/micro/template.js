'use strict'

const path = require('node:path')
const nunjucks = require('nunjucks')
const kone = require('../lib/servers/kone')
const micro = require('../lib/run/micro')

// What it costs to render the page of labs/mw, by nunjucks alone and by the middleware, which gives nunjucks a scope of its own.

const VIEWS = path.join(__dirname, '../labs/mw/assets/views')
const LOCALS = { greeting: 'Hello', user: 'ada', items: ['a', 'b', '<c>'] }

process.env.NODE_ENV = 'production'

micro(__filename, {
  'a page with a list': {
    'nunjucks alone': () => {
      const page = new nunjucks.Environment(new nunjucks.FileSystemLoader(VIEWS)).getTemplate('page.html', true)
      return () => { page.render(LOCALS) }
    },
    template: () => {
      const render = kone('middleware/template')(VIEWS, { map: { html: 'nunjucks' } })()
      return () => render.call({ state: {} }, 'page', LOCALS)
    }
  }
})
