/* The files of sim/web/ as texts, which the build embeds. */
#ifndef SHARDSIM_SIM_REPORT_WEB_H
#define SHARDSIM_SIM_REPORT_WEB_H

extern const char web_page_css[], web_page_js[];

#endif
