/* Progressive: every page works without this file. */
'use strict'

const root = document.documentElement
root.dataset.theme = localStorage.getItem('theme') || ''

document.getElementById('theme').addEventListener('click', () => {
  const dark = root.dataset.theme
    ? root.dataset.theme === 'dark'
    : matchMedia('(prefers-color-scheme: dark)').matches
  root.dataset.theme = dark ? 'light' : 'dark'
  localStorage.setItem('theme', root.dataset.theme)
})

for (const time of document.querySelectorAll('time')) {
  time.textContent = new Date(time.dateTime).toLocaleString(root.lang)
}

const clock = document.getElementById('clock')
if (clock) {
  const source = new EventSource('/api/ticks')
  source.addEventListener('tick', event => {
    clock.textContent = new Date(JSON.parse(event.data).now).toLocaleTimeString(root.lang)
  })
}
