/* Every page works without this file. */
'use strict'

const root = document.documentElement
const byId = id => document.getElementById(id)

showTimes()

byId('theme').addEventListener('submit', async event => {
  event.preventDefault()
  const { submitter, currentTarget: form } = event
  root.dataset.theme = submitter.value
  document.querySelector('meta[name=color-scheme]').content = submitter.value === 'auto' ? 'light dark' : submitter.value
  for (const button of form.querySelectorAll('button')) button.ariaPressed = String(button === submitter)
  await fetch(form.action, { method: 'POST', body: new URLSearchParams(new FormData(form, submitter)), redirect: 'manual' })
    .catch(() => {}) // this page has the theme, the next one does not
})

if (byId('live')) watch()
if (byId('entries')) follow()
for (const form of document.querySelectorAll('form.try')) form.addEventListener('submit', tryIt)

function showTimes () {
  for (const time of document.querySelectorAll('time')) {
    time.textContent = new Intl.DateTimeFormat(root.lang, { dateStyle: 'medium', timeStyle: 'short' })
      .format(new Date(time.dateTime))
  }
}

// ---- the guestbook: what others write, at once

function follow () {
  const socket = new WebSocket('/guestbook/live')
  socket.addEventListener('message', async ({ data: newest }) => {
    if (newest === byId('entries').dataset.newest) return
    const res = await fetch('/guestbook').catch(() => null)
    if (!res?.ok) return
    const page = new DOMParser().parseFromString(await res.text(), 'text/html')
    byId('entries').replaceWith(page.getElementById('entries'))
    showTimes()
  })
  // the server leaves, for a new version say: not all pages at once
  socket.addEventListener('close', ({ code }) => { if (code === 1001) setTimeout(follow, 1000 + 2000 * Math.random()) })
}

// ---- the first page: figures and charts, once a second

function watch () {
  let source
  let samples = []

  // a browser has few connections per site, and a hidden page needs none
  document.addEventListener('visibilitychange', connect)
  byId('load').addEventListener('click', sendRequests)
  connect()

  function connect () {
    if (source) source.close()
    if (document.hidden) return
    source = new EventSource('/api/live')
    source.addEventListener('open', () => say(''))
    source.addEventListener('error', () => say(byId('offline').dataset.text)) // it connects again by itself
    source.addEventListener('history', event => draw(samples = JSON.parse(event.data)))
    source.addEventListener('sample', event => draw(samples = [...samples, JSON.parse(event.data)].slice(-60)))
  }
}

function draw (samples) {
  const latest = samples.at(-1)
  if (!latest) return
  const { lang } = root
  const { on, off } = byId('live').dataset
  for (const kind of Object.keys(figures.kinds)) {
    byId(`${kind}-top`).textContent = figures.text(kind, figures.top(kind, samples), lang)
    byId(`${kind}-line`).setAttribute('d', figures.line(kind, samples))
    byId(`${kind}-area`).setAttribute('d', figures.area(kind, samples))
  }
  byId('rate').textContent = figures.text('rate', latest.rate, lang)
  byId('latestCpu').textContent = figures.text('cpu', latest.latestCpu, lang)
  byId('delay').textContent = figures.text('delay', latest.delay, lang)
  byId('total').textContent = figures.number(latest.total, lang)
  byId('share').textContent = figures.percent(latest.share, lang)
  byId('fast').textContent = latest.isFast === false ? off : on
}

function say (text) {
  byId('offline').textContent = text
}

/** Small requests, four at a time, for ten seconds or until the button is pressed again. */
async function sendRequests ({ currentTarget: button }) {
  if (button.dataset.until) {
    button.dataset.until = 0
    return
  }
  const { textContent } = button
  button.dataset.until = Date.now() + 10_000
  button.textContent = button.dataset.stop
  await Promise.all(Array.from({ length: 4 }, async () => {
    while (Date.now() < button.dataset.until) {
      const res = await fetch('/api/ping', { cache: 'no-store' }).catch(() => null)
      if (!res) return say(byId('offline').dataset.text)
      await res.text()
    }
  }))
  button.textContent = textContent
  delete button.dataset.until
}

// ---- the API's page: send what the form says, show what comes back

async function tryIt (event) {
  event.preventDefault()
  const { currentTarget: form } = event
  const values = [...new FormData(form)]
  const { json, events, path } = form.dataset
  const show = outputOf(form)

  let url = new URL(form.action)
  if (path) url = new URL(path.replace(/:(\w+)/, (_, name) => encodeURIComponent(form.elements[name].value)), url)
  else if (form.method === 'get') url.search = new URLSearchParams(values)
  const options = { method: form.method.toUpperCase(), headers: { Accept: 'application/json, */*' } }
  if (json) {
    options.headers['Content-Type'] = 'application/json'
    const numbers = () => values.map(([, value]) => value.trim() !== '' && !isNaN(value) ? Number(value) : value)
    options.body = JSON.stringify(json === 'array' ? numbers() : Object.fromEntries(values))
  }

  try {
    const start = performance.now()
    const res = await fetch(url, options)
    const text = events ? await readEvents(res, Number(events)) : await res.text()
    const ms = figures => new Intl.NumberFormat(root.lang, { maximumFractionDigits: 1 }).format(figures)
    show(`${res.status} ${res.statusText}`, `${res.headers.get('content-type')} · ${ms(performance.now() - start)}\u00a0ms`, pretty(text))
  } catch {
    show(document.body.dataset.offline, '', '') // fetch rejects for no other reason
  }
}

async function readEvents (res, count) {
  const reader = res.body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  while (text.split('\n\n').length <= count) {
    const { done, value } = await reader.read()
    if (done) break
    text += value
  }
  await reader.cancel()
  return text.split('\n\n').slice(0, count).join('\n\n')
}

function pretty (text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}

/** Where a form shows its response: made once, announced by screen readers. */
function outputOf (form) {
  let place = form.parentElement.querySelector('.response')
  if (!place) {
    place = document.createElement('div')
    place.className = 'response'
    place.setAttribute('role', 'status')
    form.after(place)
  }
  return (status, detail, body) => {
    const line = document.createElement('p')
    const code = document.createElement('span')
    code.className = 'result'
    code.textContent = status
    line.append(code, ` ${detail}`)
    const pre = document.createElement('pre')
    pre.tabIndex = 0
    pre.textContent = body
    place.replaceChildren(line, ...body === '' ? [] : [pre])
  }
}
