import { useData } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import onion from '../../drawings/onion.svg?raw'
import './style.css'

// The drawing's own style is for those who open the file alone; here it has the page's colours.
const drawing = { 'aria-hidden': true, innerHTML: onion.replace(/<style>[\s\S]*?<\/style>/, '') }

// What to edit, where the site does not know its repository's address.
const Source = {
  setup () {
    const { page, theme } = useData()
    return () => theme.value.editLink ? null : h('p', { class: 'source' }, ['Source: ', h('code', page.value.filePath)])
  }
}

export default {
  extends: theme,
  Layout: () => h(theme.Layout, null, { 'home-hero-image': () => h('div', drawing), 'doc-footer-before': () => h(Source) })
}
