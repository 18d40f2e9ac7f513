import { h } from 'vue'
import theme from 'vitepress/theme-without-fonts'
import onion from '../../drawings/onion.svg?raw'
import './style.css'

// The drawing's own style is for those who open the file alone; here it has the page's colours.
const drawing = { 'aria-hidden': true, innerHTML: onion.replace(/<style>[\s\S]*?<\/style>/, '') }

export default {
  extends: theme,
  Layout: () => h(theme.Layout, null, { 'home-hero-image': () => h('div', drawing) })
}
