'use strict'

const assert = require('node:assert/strict')
const fs = require('node:fs')
const path = require('node:path')
const { describe, it } = require('node:test')
const set = require('kone/middleware')
const Kone = require('../helpers/kone')

const STRINGS = [5, null, {}]
const TEXTS = [...STRINGS, '']
const BOOLEANS = ['yes', 1, null]
const FUNCTIONS = ['f', {}, null]
const SIZES = ['much', -1, NaN, null, '-1kb', '12 apples']
const ENCODING = [5, 'yes', { level: 99, params: { 99: 1 } }]

/**
 * For each middleware how it is made, and for each of its options what it must refuse: values of
 * another type, and impossible ones of the right type.
 */
const TABLE = {
  bodyParser: {
    make: options => set.bodyParser(options),
    options: {
      enableTypes: ['json', ['yaml'], [5]],
      jsonLimit: SIZES,
      formLimit: SIZES,
      textLimit: SIZES,
      xmlLimit: SIZES,
      encoding: [5, '', 'nonsense', 'base64'],
      strict: BOOLEANS,
      detectJSON: FUNCTIONS,
      extendTypes: [5, ['text/x'], { json: 5 }],
      onerror: FUNCTIONS,
      onError: FUNCTIONS, // of @koa/bodyparser
      jsonStrict: BOOLEANS,
      parsedMethods: ['POST', [5], null],
      patchNode: [true],
      enableRawChecking: [true],
      onProtoPoisoning: [true, 'keep'],
      queryString: [5, null],
      'queryString.allowDots': BOOLEANS,
      'queryString.arrayLimit': ['5', -1],
      'queryString.depth': ['5', -1, NaN],
      'queryString.parameterLimit': ['5', -1],
      'queryString.comma': [true], // of qs itself
      qs: [5, {}, { parse: 'x' }]
    }
  },
  compress: {
    make: options => set.compress(options),
    final: options => set.compress.final(options),
    options: {
      filter: FUNCTIONS,
      threshold: ['much', -1, NaN, {}],
      br: ENCODING,
      gzip: ENCODING,
      deflate: ENCODING,
      zstd: [5, 'yes'],
      encodingPreference: ['br', ['lzma'], [5]],
      defaultEncoding: TEXTS,
      wildcardAcceptEncoding: TEXTS
    }
  },
  conditionalGet: {
    make: options => set.conditionalGet(options),
    final: options => set.conditionalGet.final(options),
    options: {}
  },
  cors: {
    make: options => set.cors(options),
    options: {
      origin: [5, ['https://a.com'], /a/, true],
      allowMethods: [5, {}, [5]],
      exposeHeaders: [5, {}, [5]],
      allowHeaders: [5, {}, [5]],
      maxAge: [true, -1, NaN, 'a day', ['5']],
      credentials: ['yes', 1],
      keepHeadersOnError: BOOLEANS,
      secureContext: BOOLEANS,
      privateNetworkAccess: BOOLEANS
    }
  },
  csrf: {
    make: options => set.csrf(options),
    options: {
      errorHandler: FUNCTIONS,
      excludedMethods: ['GET', [5]],
      disableQuery: BOOLEANS,
      ignoredPathGlobs: ['/x', [/x/], ['/{a,b'], ['/+(a|b)'], ['/[z-a]']],
      secretLength: ['18', 15, 18.5],
      invalidTokenMessage: ['no'], // of koa-csrf 3
      invalidTokenStatusCode: [400]
    }
  },
  etag: {
    make: options => set.etag(options),
    final: options => set.etag.final(options),
    options: { weak: BOOLEANS }
  },
  favicon: {
    make: options => set.favicon(undefined, options),
    options: { maxAge: ['1d', -1, NaN], mime: TEXTS }
  },
  helmet: {
    make: options => set.helmet(options),
    options: {
      contentSecurityPolicy: [5, 'none', [], { directives: { defaultSrc: 'a;b' } }, { directives: { defaultSrc: 5 } }],
      'contentSecurityPolicy.directives': [5, null],
      'contentSecurityPolicy.reportOnly': BOOLEANS,
      crossOriginEmbedderPolicy: [5, { policy: 'maybe' }],
      crossOriginOpenerPolicy: [5, { policy: 'maybe' }],
      crossOriginResourcePolicy: [5, { policy: 'maybe' }],
      originAgentCluster: [5, {}],
      referrerPolicy: [5, { policy: [] }, { policy: 'maybe' }],
      strictTransportSecurity: [5, { maxAge: -1 }, { maxAge: '1' }, { preload: 1 }],
      hsts: [5, { maxAge: -1 }],
      xContentTypeOptions: [5, {}],
      noSniff: [5, {}],
      xDnsPrefetchControl: [5, { allow: 'x' }],
      dnsPrefetchControl: [5, { allow: 'x' }],
      xDownloadOptions: [5, {}],
      ieNoOpen: [5, {}],
      xFrameOptions: [5, { action: 'maybe' }],
      frameguard: [5, { action: 'maybe' }],
      xPermittedCrossDomainPolicies: [5, { permittedPolicies: 'maybe' }],
      permittedCrossDomainPolicies: [5, { permittedPolicies: 'maybe' }],
      xPoweredBy: [5, {}],
      hidePoweredBy: [5, {}],
      xXssProtection: [5, {}],
      xssFilter: [5, {}]
    }
  },
  i18n: {
    make: options => set.i18n(new Kone(), withLocales(options)),
    options: {
      locales: [5, 'en', [], { en: 5 }],
      directory: TEXTS,
      extension: TEXTS,
      parse: FUNCTIONS,
      modes: ['query', ['moon'], [5]],
      defaultLocale: [5, '', 'fr', null],
      fallback: [5, '', 'fr', true, null],
      key: TEXTS,
      devMode: [true], // of i18n-2
      indent: ['  '],
      dump: [JSON.stringify],
      register: [{}],
      cookieName: ['lang']
    }
  },
  isolate: { make: options => set.isolate(options), options: {} },
  jsonp: {
    make: options => set.jsonp(options),
    final: options => set.jsonp.final(options),
    options: { callbackName: TEXTS, domain: ['example.com'] }
  },
  logger: {
    make: options => set.logger(console, options),
    final: options => set.logger.final(console, options),
    options: {
      format: [5, {}, null],
      level: ['loud', 5, 'fatal'], // console has no fatal()
      nolog: [5, {}, [5], null],
      tokens: ['x', {}, [{}], [{ token: '' }], [{ token: 5 }]]
    }
  },
  rateLimit: {
    make: options => set.rateLimit(options),
    options: {
      driver: [5, 'mongo', null],
      db: [5, {}, null],
      duration: ['1m', 0, Infinity, NaN],
      max: ['5', -1, NaN],
      id: FUNCTIONS,
      ipv6Subnet: ['64', 0, 129, 63.5],
      namespace: STRINGS,
      headers: [5, 'x', []],
      'headers.remaining': TEXTS,
      'headers.reset': TEXTS,
      'headers.total': TEXTS,
      disableHeader: BOOLEANS,
      errorMessage: [5, true, null],
      status: ['429', 200, 600],
      throw: BOOLEANS,
      onLimited: FUNCTIONS,
      whitelist: FUNCTIONS,
      blacklist: FUNCTIONS,
      failOpen: BOOLEANS
    }
  },
  requestId: {
    make: options => set.requestId(options),
    options: { header: [5, '', 'a b', true, null], query: [5, '', null], expose: [5, 'a\nb', null] }
  },
  router: {
    make: options => set.router(options),
    options: {
      prefix: STRINGS,
      host: STRINGS,
      methods: ['GET', [5], null],
      routerPath: STRINGS,
      exclusive: BOOLEANS,
      sensitive: BOOLEANS,
      strict: BOOLEANS,
      syntax: ['8', 7, null]
    }
  },
  rpc: {
    make: options => set.rpc({}, options),
    options: {
      prefix: [5, 'rpc', '/a?b', null],
      codecs: [{}, [5], [{ type: 'x/y' }], [{ type: 'x', decode () {}, encode () {} }]],
      limit: SIZES
    }
  },
  session: {
    make: options => set.session(options),
    options: {
      key: TEXTS,
      store: [5, 'redis', {}, { get () {}, set () {} }],
      cookie: [5, 'a', []],
      'cookie.maxAge': ['1d', -1, NaN],
      'cookie.path': [5],
      'cookie.domain': [5],
      'cookie.httpOnly': BOOLEANS,
      'cookie.sameSite': [5, 'maybe'],
      'cookie.secure': BOOLEANS,
      'cookie.signed': BOOLEANS,
      rolling: BOOLEANS,
      renew: BOOLEANS,
      maxAge: ['1d', -1, NaN, null], // of koa-session, from here on
      path: STRINGS,
      domain: STRINGS,
      httpOnly: BOOLEANS,
      secure: BOOLEANS,
      sameSite: [5, 'maybe'],
      signed: BOOLEANS,
      priority: [5, 'maybe', null],
      partitioned: BOOLEANS,
      overwrite: [false, 'yes'],
      autoCommit: [false, 'yes'],
      encode: [JSON.stringify],
      decode: [JSON.parse],
      genid: [() => '1'],
      prefix: ['sess:'],
      externalKey: [{}],
      ContextStore: [class {}],
      valid: [() => true],
      beforeSave: [() => {}]
    }
  },
  sse: {
    make: options => set.sse(options),
    options: { heartbeat: ['1s', -1, 0.5, 2 ** 31, null], limit: ['1kb', 0, 0.5, null] }
  },
  static: {
    make: options => set.static(__dirname, options),
    final: options => set.static.final(__dirname, options),
    options: {
      maxAge: ['1d', -1, NaN],
      maxage: ['1d', -1],
      immutable: BOOLEANS,
      index: [5, true, null],
      format: BOOLEANS,
      hidden: BOOLEANS,
      extensions: ['html', [5], true],
      br: BOOLEANS,
      brotli: BOOLEANS,
      gzip: BOOLEANS,
      gz: BOOLEANS,
      zstd: BOOLEANS,
      zst: BOOLEANS,
      etag: BOOLEANS,
      defer: BOOLEANS,
      setHeaders: FUNCTIONS,
      dev: BOOLEANS,
      cacheSize: ['16mb', -1, NaN],
      cacheFileSize: ['64kb', -1]
    }
  },
  template: {
    make: options => set.template(__dirname, options),
    options: {
      autoRender: BOOLEANS,
      extension: TEXTS,
      map: [5, ['x'], { html: 5 }],
      options: [5, 'x', []],
      'options.autoescape': BOOLEANS,
      'options.filters': [5, { shout: 5 }],
      'options.tests': [5, { odd: 'x' }],
      'options.globals': [5],
      'options.extensions': [5],
      'options.watch': BOOLEANS,
      engineSource: [{}]
    },
    open: ['options'] // variables of templates
  },
  upload: {
    make: options => set.upload(options),
    options: {
      dest: [5, '', '/nowhere/at/all'],
      limits: [5, []],
      'limits.fileSize': SIZES,
      'limits.files': ['3', -1, 0.5],
      'limits.fields': ['3', -1, 0.5],
      'limits.fieldSize': SIZES,
      storage: [{}], // of multer
      fileFilter: [() => true],
      preservePath: [true]
    }
  }
}

// `locales` is the one option that cannot be left out
function withLocales (options) {
  return options === undefined || options?.constructor === Object || options === null
    ? { locales: { en: {} }, ...options }
    : options
}

// accepted whatever it is; a part of the first argument
const IGNORED = { csrf: 'saltLength', logger: 'transporter' }

const misspelt = name => name.length < 4 ? `${name}x` : `${name.slice(0, -1)}q`
const under = (path, value) => path.split('.').reduceRight((inner, name) => ({ [name]: inner }), value)

for (const [name, { make, final, options, open = [] }] of Object.entries(TABLE)) {
  describe(`the options of ${name}`, () => {
    const makers = [make, final].filter(Boolean)
    const refuses = (given, message) => {
      for (const maker of makers) assert.throws(() => maker(given), { name: 'TypeError', message }, JSON.stringify(given))
    }

    it('should be an object, or left out', () => {
      for (const maker of makers) {
        maker()
        maker({})
        maker(null)
      }
      for (const wrong of [5, true, ['a']]) refuses(wrong, /options must be an object/)
    })

    it('should each refuse another type and an impossible value, by name', () => {
      for (const [path, values] of Object.entries(options)) {
        for (const value of values) refuses(under(path, value), new RegExp(`^${name}: options\\.${path}\\b`))
      }
    })

    it('should each be suggested for a misspelt name', () => {
      for (const path of Object.keys(options)) {
        if (open.includes(path.split('.').at(-2))) continue
        const wrong = misspelt(path)
        refuses(under(wrong, true), new RegExp(`^${name}: options\\.${wrong} is unknown: did you mean \`\\w+\`\\?$`))
      }
    })

    it('should refuse a name that is nothing like one', () => {
      refuses({ qqqqqqqqqqqq: 1 }, /^\w+: options\.qqqqqqqqqqqq is unknown(, only \w|: there are no options)/)
    })
  })
}

describe('the options of the set', () => {
  it('should all be in this table', () => {
    const positional = ['timeout', 'views'] // ms; template
    assert.deepEqual(Object.keys(set).filter(name => !positional.includes(name)), Object.keys(TABLE))
  })

  it('should be those of the manual', () => {
    for (const [name, { make, options }] of Object.entries(TABLE)) {
      const page = fs.readFileSync(path.join(__dirname, '../../middleware', name, 'README.md'), 'utf8')
      const [, table = ''] = /^\| option \|.*\n\|[-|]+\|\n((?:\|.*\n)*)/m.exec(page) ?? []
      const listed = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell]) => [...cell.matchAll(/`([\w.]+)`/g)].map(([, one]) => one))
      for (const one of listed) assert(one in options || IGNORED[name] === one, `${one} of ${name} is not checked here`)
      for (const one of Object.keys(options)) {
        const isRefused = () => {
          try {
            make(under(one, options[one][0]))
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

  it('should be left alone', () => {
    const app = new Kone()
    for (const name of ['bodyParser', 'compress', 'logger', 'static']) {
      const { make } = TABLE[name]
      assert.doesNotThrow(() => app.use(make(Object.freeze({}))))
    }
  })
})
