<?xml version="1.0" encoding="UTF-8"?>
<!-- One row of the weather feed -> a message valid under weather.dtd.

     Equal weather gives equal bytes. With the parameter timed = 'yes' a message contains its time of
     observation, so no two are equal. -->
<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
  <xsl:output method="xml" encoding="UTF-8" indent="yes"/>
  <xsl:param name="timed"/>

  <xsl:template match="/">
    <xsl:apply-templates select="rows/row"/>
  </xsl:template>

  <xsl:template match="row">
    <weather city="{@city}" country="{@country}">
      <xsl:if test="$timed = 'yes'">
        <xsl:attribute name="observed"><xsl:value-of select="@time"/></xsl:attribute>
      </xsl:if>
      <station code="{@station}">
        <name><xsl:value-of select="@name"/></name>
        <position>
          <latitude><xsl:value-of select="@latitude"/></latitude>
          <longitude><xsl:value-of select="@longitude"/></longitude>
          <elevation unit="m"><xsl:value-of select="@elevation"/></elevation>
        </position>
        <operator>Provincial Weather Network</operator>
      </station>
      <temperature unit="celsius" instrument="resistance thermometer" height="1.5" quality="checked">
        <xsl:value-of select="@temperature"/>
      </temperature>
      <feels-like unit="celsius" instrument="apparent temperature formula" height="1.5" quality="estimated">
        <xsl:value-of select="@feels-like"/>
      </feels-like>
      <condition code="{@code}"><xsl:value-of select="@condition"/></condition>
      <humidity unit="percent" instrument="capacitive hygrometer" height="1.5" quality="checked">
        <xsl:value-of select="@humidity"/>
      </humidity>
      <dew-point unit="celsius" instrument="capacitive hygrometer" height="1.5" quality="checked">
        <xsl:value-of select="@dew-point"/>
      </dew-point>
      <wind unit="km-h" from="{@from}" instrument="cup anemometer" height="10" quality="checked">
        <xsl:value-of select="@wind"/>
      </wind>
      <wind-gust unit="km-h" instrument="cup anemometer" height="10" quality="checked">
        <xsl:value-of select="@wind-gust"/>
      </wind-gust>
      <pressure unit="hPa" trend="{@trend}" instrument="aneroid barometer" quality="checked">
        <xsl:value-of select="@pressure"/>
      </pressure>
      <visibility unit="km" instrument="forward scatter meter" height="2.5" quality="raw">
        <xsl:value-of select="@visibility"/>
      </visibility>
      <uv unit="index" instrument="sun height and cloud" quality="estimated"><xsl:value-of select="@uv"/></uv>
      <clouds unit="percent" instrument="ceilometer" quality="raw"><xsl:value-of select="@clouds"/></clouds>
      <rainfall unit="mm" hours="1" instrument="tipping bucket gauge" height="1" quality="checked">
        <xsl:value-of select="@rainfall"/>
      </rainfall>
    </weather>
  </xsl:template>
</xsl:stylesheet>
